/** Headers by which a page says who it is, and where it stands. */
import * as fc from "fast-check";
import { type Header, without } from "./request.ts";
import type { Subject } from "./subject.ts";

/** Without any credentials. */
export const anonymous = ({ headers }: Subject): Header[] => without(headers, "authorization", "cookie", "x-svc-csrf");

/** Halves of a page's sign-in, and what stands beside them. */
export function signIns({ credentials: { page }, mark }: Subject): fc.Arbitrary<readonly Header[]> {
  const cookies = [
    page.cookie,
    `${page.cookie}; ${page.cookie}`,
    `${page.cookie}; svc_session=${mark}`,
    `svc_session=${mark}; ${page.cookie}`,
    `svc_session=${mark}`,
    "svc_session=",
    "svc_session",
    `${page.cookie}x`,
    page.cookie.toUpperCase(),
    `SVC_SESSION=${mark}; a=b;;=;${mark}`,
    `svc_session="${mark}"`,
    "x".repeat(8_000),
  ];
  const secrets = [page.csrf, `${page.csrf}x`, page.csrf.slice(1), page.cookie.slice(12), mark, ""];
  return fc.tuple(fc.constantFrom(...cookies), fc.constantFrom(...secrets)).map(([cookie, csrf]) => [
    ["Cookie", cookie],
    ["X-Svc-Csrf", csrf],
  ]);
}

/** Event positions that a client claims. */
export const positions = (mark: string): fc.Arbitrary<Header> =>
  fc
    .constantFrom(mark, "", "-", "x-0", "x-1", "0-0", `${mark}-${"9".repeat(40)}`, `${"b".repeat(9_000)}-1`, "x-1, x-2")
    .map((value) => ["Last-Event-ID", value]);
