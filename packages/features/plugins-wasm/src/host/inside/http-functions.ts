/** HTTP of plugins. The service makes the requests; the plugin stands still until it has answered. */
import type { CallContext } from "@extism/extism";
import { MAX_HEAD_BYTES, MAX_HTTP_BODY_BYTES, type PluginRequest } from "../frames.ts";
import { bytesAt, type HostMemory, textAt } from "./host-memory.ts";
import type { HostFunctions } from "./host-functions.ts";
import { HostStop } from "./host-stop.ts";
import { receive, send } from "./service-pipe.ts";

/** The answer's body is the function's result; its status and headers are asked for after it. */
export function httpFunctions(memory: HostMemory): HostFunctions[string] {
  let status = 0;
  let headers: Readonly<Record<string, string>> = {};
  return {
    http_request(context, requestAt: bigint, bodyAt: bigint) {
      const request = requestOf(textAt(context, requestAt));
      const body = isBodiless(request.method) ? undefined : bodyOf(context, bodyAt);
      if (JSON.stringify(request).length > MAX_HEAD_BYTES / 8) throw new HostStop("its request's head is too long.");
      send({ kind: "request", ...request }, body);
      const answer = receive();
      // Nobody is there to be told.
      if (answer === undefined) process.exit(0);
      if (answer.head.kind !== "answer") throw new HostStop(new TextDecoder().decode(answer.body));
      ({ status, headers } = answer.head);
      return memory.store(context, answer.body);
    },
    http_status_code: () => status,
    http_headers: (context) =>
      memory.store(context, Uint8Array.from(new TextEncoder().encode(JSON.stringify(headers)))),
  };
}

/** As plugins write it: https://github.com/extism/extism/blob/main/manifest/src/lib.rs (`HttpRequest`). */
function requestOf(text: string | undefined): PluginRequest {
  const { url, method = "GET", headers, header } = objectOf(text);
  const given = headers ?? header ?? {};
  if (typeof url !== "string" || typeof method !== "string" || !isHeaders(given)) {
    throw new HostStop("its request is malformed.");
  }
  return { url, method: method.toUpperCase(), headers: given };
}

function objectOf(text = ""): Record<string, unknown> {
  try {
    return (JSON.parse(text) ?? {}) as Record<string, unknown>;
  } catch {
    return {};
  }
}

const isHeaders = (value: unknown): value is Readonly<Record<string, string>> =>
  typeof value === "object" && value !== null && Object.values(value).every((each) => typeof each === "string");

function bodyOf(context: CallContext, at: bigint): Uint8Array | undefined {
  const body = at === 0n ? undefined : bytesAt(context, at);
  if (body && body.byteLength > MAX_HTTP_BODY_BYTES) throw new HostStop("its request's body is too large.");
  return body;
}

const isBodiless = (method: string): boolean => method === "GET" || method === "HEAD";
