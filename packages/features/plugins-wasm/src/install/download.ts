/** Fetches an archive: over https, or from this machine. A redirect leads to https and to no private address. */
import { type FeatureCommandContext, type FetchResult, SvcError } from "@svc/contract";

/** Bytes of the archive. */
const MAX_ARCHIVE_BYTES = 20 * 1024 * 1024;
/** Of the whole download. */
const TIMEOUT_MS = 300_000;
const MAX_REDIRECTS = 5;

/** undefined: no URL, but a path. Throws PLUGIN_INVALID for a URL that nothing is installed from. */
export function sourceUrl(source: string): URL | undefined {
  if (!/^[a-z][a-z0-9+.-]+:\/\//i.test(source)) return undefined;
  const url = URL.canParse(source) ? new URL(source) : undefined;
  if (url?.protocol === "https:" || (url?.protocol === "http:" && isLoopback(url))) return url;
  throw new SvcError("PLUGIN_INVALID", "A plugin is installed from https URLs only, or http ones of this machine.", {
    hint: "Whoever is between could put another plugin in its place.",
  });
}

/** As `FeatureCommandContext.fetch` takes it: those hosts it reaches. */
const isLoopback = ({ hostname }: URL): boolean => /^(localhost|127(\.\d+){3}|\[::1\])$/.test(hostname);

/** Throws PLUGIN_INVALID for what is no archive of at most 20 MiB, and what `context.fetch` throws. */
export async function downloadPlugin(
  typed: URL,
  context: Pick<FeatureCommandContext, "fetch" | "progress" | "signal">,
): Promise<Uint8Array> {
  const progress = context.progress("Downloading");
  try {
    let url = typed;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const { answer, bytes } = await request(url, context, (share) => progress.at(share));
      const next = redirectOf(answer, url);
      if (next === undefined) return archiveOf(answer, bytes);
      if (next.origin !== typed.origin && (next.protocol !== "https:" || isLoopback(next))) {
        throw new SvcError("ADDRESS_REFUSED", "The server redirects to where nothing is installed from.", {
          hint: "A redirect must lead to https, and not to this machine.",
        });
      }
      url = next;
    }
    throw new SvcError("REMOTE_UNREACHABLE", `The server redirected more than ${MAX_REDIRECTS} times.`);
  } finally {
    progress.done();
  }
}

async function request(
  url: URL,
  { fetch, signal }: Pick<FeatureCommandContext, "fetch" | "signal">,
  at: (share: number | undefined) => void,
): Promise<{ answer: FetchResult; bytes: Uint8Array }> {
  const chunks: Uint8Array[] = [];
  let total = 0;
  let length: number | undefined;
  const answer = await fetch(url.href, {
    // Each is looked at here: the client alone would follow one to http.
    redirects: "none",
    maxBytes: MAX_ARCHIVE_BYTES,
    timeoutMs: TIMEOUT_MS,
    signal,
    begun: ({ headers }) => (length = headers["content-encoding"] === undefined ? lengthOf(headers) : undefined),
    write: async (chunk) => {
      chunks.push(chunk);
      total += chunk.byteLength;
      at(length === undefined ? undefined : total / length);
    },
  });
  return { answer, bytes: Buffer.concat(chunks) };
}

function lengthOf(headers: FetchResult["headers"]): number | undefined {
  const length = Number(headers["content-length"]);
  return length > 0 ? length : undefined;
}

function redirectOf({ status, headers }: FetchResult, url: URL): URL | undefined {
  if (![301, 302, 303, 307, 308].includes(status) || headers["location"] === undefined) return undefined;
  if (URL.canParse(headers["location"], url)) return new URL(headers["location"], url);
  throw new SvcError("REMOTE_UNREACHABLE", "The server redirects to what is no URL.");
}

function archiveOf({ status, truncated }: FetchResult, bytes: Uint8Array): Uint8Array {
  if (status !== 200) {
    throw new SvcError("REMOTE_UNREACHABLE", `The server answered with status ${status}, not with a plugin.`);
  }
  if (truncated) {
    throw new SvcError("PLUGIN_INVALID", `The archive is larger than ${MAX_ARCHIVE_BYTES / 1_048_576} MiB.`);
  }
  return bytes;
}
