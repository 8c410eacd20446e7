import type { Readable } from "node:stream";
import type { FetchOptions, FetchResult } from "@svc/contract";
import { readCapped } from "./body.ts";
import { FETCH_LIMITS } from "./guarded-fetch.ts";
import { CallersError } from "./time-limit.ts";

type Answer = Pick<FetchResult, "headers" | "bytes" | "truncated">;

/** Reads the answer, or hands it to the caller piece by piece. */
export async function takeAnswer(
  body: Readable,
  headers: Readonly<Record<string, string>>,
  coding: string | undefined,
  { write, maxBytes = FETCH_LIMITS.maxBytes }: FetchOptions,
  signal: AbortSignal,
): Promise<Answer> {
  const chunks: Uint8Array[] = [];
  const take = write === undefined ? (chunk: Uint8Array) => void chunks.push(chunk) : abortable(write, signal);
  const { truncated, decoded } = await readCapped(body, coding, maxBytes, take);
  return { headers: decoded ? withoutCoding(headers) : headers, bytes: Buffer.concat(chunks), truncated };
}

/** They describe the compressed form, which the caller never sees. */
function withoutCoding(headers: Readonly<Record<string, string>>): Record<string, string> {
  const { "content-encoding": _coding, "content-length": _length, ...rest } = headers;
  return rest;
}

/** A caller that takes for ever is under the time limit like the server: it is not waited for. */
function abortable(
  write: NonNullable<FetchOptions["write"]>,
  signal: AbortSignal,
): (chunk: Uint8Array) => Promise<void> {
  const aborted = Promise.withResolvers<never>();
  aborted.promise.catch(() => undefined);
  signal.addEventListener("abort", () => aborted.reject(signal.reason), { once: true });
  return async (chunk) => {
    signal.throwIfAborted();
    await Promise.race([asCallers(() => write(chunk)), aborted.promise]);
  };
}

async function asCallers(work: () => Promise<void>): Promise<void> {
  try {
    await work();
  } catch (error) {
    throw new CallersError(error);
  }
}
