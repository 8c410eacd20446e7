/** `http_get`: one request through the guarded client, which refuses private addresses and checks every redirect. */
import { type Contributions, defineTool, type FetchResult } from "@svc/contract";
import * as v from "valibot";

// A turn cuts results beyond 64 Ki characters of JSON.
const DEFAULT_BYTES = 32_768;
const MAX_BYTES = 49_152;

export const httpGet = defineTool({
  name: "http_get",
  description:
    "Fetches an http or https URL and returns status, some headers and the text. With a body the request is a POST, which " +
    "acts on the other side and may need a person's approval; without one it is a GET. Addresses on private networks and " +
    "on this machine are refused, at most 5 redirects are followed, and credentials belong in headers, not in the URL. " +
    `What is beyond max_bytes (default ${DEFAULT_BYTES}) is cut and truncated is true; of binary data only a note is returned.`,
  input: v.strictObject({
    url: v.pipe(v.string(), v.nonEmpty(), v.maxLength(8192), v.description("The URL, with http:// or https://.")),
    headers: v.optional(v.pipe(v.record(v.string(), v.string()), v.description("Request headers by name."))),
    body: v.optional(
      v.pipe(
        v.string(),
        v.maxLength(1_048_576),
        v.description("Makes it a POST with this body; say its type in a Content-Type header."),
      ),
    ),
    max_bytes: v.optional(
      v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(MAX_BYTES), v.description(`At most ${MAX_BYTES}.`)),
      DEFAULT_BYTES,
    ),
  }),
  approval: ({ body }) => (body === undefined ? "auto" : "ask"),
  lasting: Object.freeze({}),
  async run({ url, headers = {}, body, max_bytes: maxBytes }, { fetch, signal }) {
    signal.throwIfAborted();
    const method = body === undefined ? "GET" : "POST";
    const result = await fetch(url, { method, headers, maxBytes, signal, ...(body !== undefined && { body }) });
    return {
      status: result.status,
      url: result.url,
      headers: shownHeaders(result.headers),
      ...contentOf(result),
      truncated: result.truncated,
    };
  },
});

const SHOWN = [
  "content-type",
  "content-length",
  "content-disposition",
  "content-language",
  "date",
  "etag",
  "last-modified",
  "link",
  "location",
  "retry-after",
];
const MAX_HEADER_CHARS = 1000;

/** The rest is noise, and set-cookie is a credential. */
function shownHeaders(headers: FetchResult["headers"]): Record<string, string> {
  const shown: Record<string, string> = {};
  for (const name of SHOWN) {
    const value = headers[name];
    if (value !== undefined) shown[name] = value.slice(0, MAX_HEADER_CHARS);
  }
  return shown;
}

function contentOf({ bytes, headers }: FetchResult): { text: string } | { note: string; bytes: number } {
  const type = headers["content-type"] ?? "text/plain";
  const text = /^(?:text\/|[^;]*(?:json|xml|javascript|yaml|urlencoded|csv|graphql|markdown))/i.test(type.trim());
  if (!text || bytes.includes(0)) return { note: "The content is not text and is not shown.", bytes: bytes.byteLength };
  return { text: decoderFor(type).decode(bytes) };
}

function decoderFor(contentType: string): TextDecoder {
  const charset = /;\s*charset\s*=\s*"?([A-Za-z0-9_:.-]+)/i.exec(contentType)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(charset);
  } catch {
    return new TextDecoder();
  }
}

export const create = (): Contributions => ({ tools: [httpGet] });
