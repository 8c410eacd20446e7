/** The guarded client, as the platform's libraries want one. */
import { type FeatureContext, SvcError } from "@svc/contract";
import type { WebClientOptions } from "@slack/web-api";

export type ClientFetch = NonNullable<WebClientOptions["fetch"]>;

/** A page of two hundred messages with all their blocks. */
const MAX_BYTES = 16_777_216;

export function clientFetch(fetch: FeatureContext["fetch"], signal: AbortSignal): ClientFetch {
  return async (target, { headers = {}, body } = {}) => {
    const url = String(target);
    const answer = await fetch(url, {
      method: "POST",
      headers: headers as Record<string, string>,
      body: String(body ?? ""),
      maxBytes: MAX_BYTES,
      redirects: "same-host",
      signal,
    });
    // A redirect may turn a POST into a GET, whose 200 is no acceptance of anything.
    if (answer.url !== new URL(url).href) {
      throw new SvcError("DELIVERY_FAILED", "The platform redirects to another address.", {
        hint: "Set api_url to the address that it redirects to.",
      });
    }
    const { status, bytes } = answer;
    const text = async (): Promise<string> => Buffer.from(bytes).toString("utf8");
    const told = new Map(Object.entries(answer.headers));
    return {
      ok: status >= 200 && status <= 299,
      status,
      statusText: "",
      url: answer.url,
      headers: { get: (name) => told.get(name.toLowerCase()) ?? null, entries: () => told.entries() },
      text,
      json: async () => JSON.parse(await text()) as unknown,
      arrayBuffer: async () => Uint8Array.from(bytes).buffer,
    };
  };
}
