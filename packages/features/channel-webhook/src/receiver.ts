/** Who is posted to, as the section says. */
import { webhookKeyOf } from "@svc/kit";
import type { Config } from "./index.ts";

export interface Receiver {
  readonly url: string;
  readonly method: "POST" | "PUT";
  /** Of the request, beside those of each message. */
  readonly headers: Readonly<Record<string, string>>;
  /** What messages are signed with; undefined: they are not. */
  readonly key: Buffer | undefined;
  readonly timeoutMs: number;
}

/** Undefined: no receiver. A blank secret counts as unset. */
export function receiverOf(config: Config): Receiver | undefined {
  const { url = "", method, authorization = "", url_secret: secret = "", timeout_secs: timeoutSecs } = config;
  if (url === "") return undefined;
  return {
    // A fragment is never sent, and an answer that comes without it is no redirect.
    url: url.split("#", 1)[0]!,
    method,
    headers: authorization.trim() === "" ? {} : { authorization: authorization.trim() },
    key: secret.trim() === "" ? undefined : webhookKeyOf(secret),
    timeoutMs: timeoutSecs * 1000,
  };
}
