/** One request, to see who answers. Not the guarded client: both addresses are the operator's own, and the local one is private. */

export interface Answer {
  readonly status?: number;
  /** The `instance` of a daemon's /health. */
  readonly instance?: string;
  /** Why there was no answer: the code of the error. */
  readonly failure?: string;
}

const MOST_BYTES = 64 * 1024;

/** Never rejects. Follows no redirect: where that leads is not the address that was asked about. */
export async function probe(url: URL, signal: AbortSignal, method: "GET" | "POST" = "GET"): Promise<Answer> {
  try {
    const headers = { accept: "application/json" };
    const response = await fetch(url, { method, redirect: "manual", signal, headers });
    return { status: response.status, ...instanceIn(await beginning(response)) };
  } catch (error) {
    return { failure: signal.aborted ? "no answer in time" : codeOf(error) };
  }
}

async function beginning(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > MOST_BYTES) break;
    text += decoder.decode(chunk, { stream: true });
  }
  return text;
}

function instanceIn(text: string): Pick<Answer, "instance"> {
  try {
    const { instance } = JSON.parse(text) as { instance?: unknown };
    return typeof instance === "string" ? { instance } : {};
  } catch {
    return {};
  }
}

/** `ECONNREFUSED`, `CERT_HAS_EXPIRED`: the code is fetch's cause's. */
function codeOf(error: unknown): string {
  const { cause, code } = error as { cause?: { code?: unknown }; code?: unknown };
  const found = cause?.code ?? code;
  return typeof found === "string" ? found : "unknown";
}
