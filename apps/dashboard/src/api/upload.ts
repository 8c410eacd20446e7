/** One file on its way to the service. `fetch` does not tell how much of it has arrived; XMLHttpRequest does. */
import { ApiError, asApiError, errorOf } from "./api-error.ts";

export interface Upload {
  readonly bytes: Blob;
  readonly headers: Readonly<Record<string, string>>;
  /** 0 to 1. */
  readonly onProgress?: (part: number) => void;
  readonly signal: AbortSignal;
}

/** Throws ApiError; with the signal's reason when it was called off. */
export function uploaded(path: string, { bytes, headers, onProgress, signal }: Upload): Promise<Response> {
  return new Promise((resolve, reject) => {
    const request = new XMLHttpRequest();
    const cancel = (): void => {
      request.abort();
      reject(signal.reason as Error);
    };
    if (signal.aborted) return cancel();
    signal.addEventListener("abort", cancel);
    const settle = (act: () => void) => (): void => {
      signal.removeEventListener("abort", cancel);
      act();
    };
    request.open("POST", path);
    for (const [name, value] of Object.entries(headers)) request.setRequestHeader(name, value);
    request.upload.addEventListener("progress", ({ loaded, total }) => onProgress?.(total === 0 ? 0 : loaded / total));
    request.addEventListener(
      "load",
      settle(() => resolve(new Response(request.responseText, { status: request.status }))),
    );
    request.addEventListener(
      "error",
      settle(() => reject(asApiError(undefined))),
    );
    request.send(bytes);
  });
}

/** What was answered, as `Api.call` has it. */
export async function answerOf<Answer>(response: Response): Promise<Answer | ApiError> {
  return response.ok ? ((await response.json()) as Answer) : errorOf(response);
}
