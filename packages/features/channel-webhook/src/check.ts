/** Whether the receiver is there. Standard Webhooks has no question for that, and a message would be one. */
import { type FeatureContext, SvcError } from "@svc/contract";
import type { Config } from "./index.ts";
import type { Receiver } from "./receiver.ts";

/** Resolves with one line for a person. Throws CHANNEL_UNAUTHORIZED, REMOTE_*. */
export async function checkReceiver(
  { fetch }: Pick<FeatureContext<Config>, "fetch">,
  { url, headers, key, timeoutMs }: Receiver,
  signal: AbortSignal,
): Promise<string> {
  signal.throwIfAborted();
  const { status } = await fetch(url, { method: "HEAD", headers, redirects: "none", timeoutMs, signal });
  if (status >= 300 && status <= 399) {
    throw unreachable(
      `redirects (status ${status}), which is not followed`,
      "Set url to the address that it leads to.",
    );
  }
  if (status >= 500) throw unreachable(`answers with status ${status}`, "Look at the receiver, and try again.");
  if (status === 401) {
    throw new SvcError("CHANNEL_UNAUTHORIZED", "The receiver refuses the credentials.", {
      hint: "Set authorization in [channels_config.webhook] to the value that the receiver expects.",
    });
  }
  // A receiver that accepts only POST answers 404 or 405, or 403 behind some front ends.
  const { host } = new URL(url);
  const how = key === undefined ? "NOT SIGNED" : "signed";
  return `${host} answers (status ${status} to HEAD); messages go there ${how}, and the first one proves that it takes them`;
}

const unreachable = (what: string, hint: string): SvcError =>
  new SvcError("REMOTE_UNREACHABLE", `The receiver ${what}.`, { hint });
