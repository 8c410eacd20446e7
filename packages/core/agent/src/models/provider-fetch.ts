/** The way out to a model's provider. */
import { currentScope } from "@svc/kernel";

/**
 * Fetch takes the key along to where a redirect leads unless it is an `Authorization` header, so none is followed. Where
 * somebody traces, the provider is told of what its answer is part of (https://www.w3.org/TR/trace-context/).
 */
export const providerFetch: typeof fetch = (input, init) => {
  const { traceparent } = currentScope();
  const headers = traceparent === undefined ? init?.headers : withTraceparent(init?.headers, traceparent);
  return fetch(input, { ...init, ...(headers && { headers }), redirect: "manual" });
};

function withTraceparent(given: RequestInit["headers"], traceparent: string): Headers {
  const headers = new Headers(given);
  if (!headers.has("traceparent")) headers.set("traceparent", traceparent);
  return headers;
}
