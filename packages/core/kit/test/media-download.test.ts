// A file that is kept although only half of it came, or an error page in its place; one that is gone and asked for for
// ever; one that may come later and is given up.
import { type FetchOptions, type FetchResult, SvcError } from "@svc/contract";
import { expect, test } from "vitest";
import { downloadMedia } from "../src/index.ts";

const never = new AbortController().signal;

function download(answer: Partial<FetchResult> | SvcError, seen: FetchOptions[] = []) {
  const whole = { status: 200, headers: {}, bytes: new Uint8Array(), truncated: false, url: "" };
  const fetch = (_: string, options: FetchOptions = {}): Promise<FetchResult> => {
    seen.push(options);
    return answer instanceof SvcError ? Promise.reject(answer) : Promise.resolve({ ...whole, ...answer });
  };
  const write = () => Promise.resolve();
  return downloadMedia(fetch, {
    url: "https://files.example/1",
    maxBytes: 26_214_400,
    redirects: "same-host",
    write,
    signal: never,
    nowMs: 0,
  });
}

test.each([
  ["image/JPEG", { mimeType: "image/jpeg" }],
  [" audio/ogg; codecs=opus", { mimeType: "audio/ogg" }],
  ["application/vnd.ms-excel", { mimeType: "application/vnd.ms-excel" }],
  ["nonsense", {}],
  [undefined, {}],
])("a file of the type %s", async (type, told) => {
  const headers: Record<string, string> = type === undefined ? {} : { "content-type": type };
  expect(await download({ headers })).toEqual(told);
});

test("goes through the client with its limits, piece by piece", async () => {
  const seen: FetchOptions[] = [];
  await download({}, seen);
  expect(seen).toMatchObject([{ maxBytes: 26_214_400, redirects: "same-host", write: expect.any(Function) }]);
});

test.each([
  [{ status: 404 }, "MEDIA_REFUSED"],
  [{ status: 401 }, "MEDIA_REFUSED"],
  [{ status: 206 }, "MEDIA_REFUSED"],
  [{ truncated: true }, "MEDIA_REFUSED"],
  [new SvcError("ADDRESS_REFUSED"), "MEDIA_REFUSED"],
  [{ status: 500 }, "REMOTE_UNREACHABLE"],
  [{ status: 429, headers: { "retry-after": "3" } }, "REMOTE_UNREACHABLE"],
  [new SvcError("REMOTE_TIMEOUT"), "REMOTE_TIMEOUT"],
] as const)("%o is %s", async (answer, code) => {
  const error = await download(answer).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code });
  expect((error as SvcError).retryAfterMs).toBe("headers" in answer ? 3000 : undefined);
});
