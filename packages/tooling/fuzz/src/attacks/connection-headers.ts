/** Headers about the connection and not about the request: upgrades, expectations, what one hop tells the next. */
import * as fc from "fast-check";
import type { Header } from "./request.ts";

export const upgrades = (mark: string): fc.Arbitrary<readonly Header[]> =>
  fc.constantFrom("websocket", "h2c", "HTTP/2.0", "TLS/1.3", mark, "websocket, h2c", "").chain((protocol) =>
    fc.subarray<Header>([
      ["Upgrade", protocol],
      ["Connection", "Upgrade"],
      ["Connection", "Upgrade, HTTP2-Settings"],
      ["HTTP2-Settings", "AAMAAABkAARAAAAAAAIAAAAA"],
      ["Sec-WebSocket-Version", "13"],
      ["Sec-WebSocket-Version", mark],
      ["Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="],
      ["Sec-WebSocket-Key", mark],
      ["Sec-WebSocket-Protocol", `svc.v1, bearer.${mark}`],
      ["Sec-WebSocket-Extensions", "permessage-deflate; server_max_window_bits=99"],
    ]),
  );

export const expectations = (mark: string): fc.Arbitrary<Header> =>
  fc
    .constantFrom("100-continue", "100-Continue", "100-continue, 100-continue", "200-ok", mark, "", "103-early-hints")
    .map((value) => ["Expect", value]);

/** Hop-by-hop headers that name headers to drop; a hop that obeys blindly drops the wrong ones. */
export const hopByHop = (mark: string): fc.Arbitrary<readonly Header[]> =>
  fc.subarray<Header>([
    ["Connection", "authorization"],
    ["Connection", "close, content-length"],
    ["Connection", mark],
    ["Keep-Alive", "timeout=999999999, max=-1"],
    ["TE", "trailers, deflate"],
    ["Trailer", "Authorization"],
    ["Proxy-Connection", "keep-alive"],
    ["Proxy-Authorization", mark],
    ["X-HTTP-Method-Override", "DELETE"],
    ["X-Original-URL", "/api/status"],
    ["X-Rewrite-URL", "/api/status"],
    ["Range", "bytes=0-1,-1"],
    ["If-None-Match", "*"],
    ["Accept-Encoding", "gzip;q=0, *;q=0"],
    ["Accept", mark],
    ["Max-Forwards", "0"],
  ]);
