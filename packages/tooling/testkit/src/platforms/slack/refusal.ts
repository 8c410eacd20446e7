/**
 * How the platform says no: status 200, `ok: false` and a word.
 * https://docs.slack.dev/apis/web-api/#responses
 */
import type { Json } from "@svc/contract";

export class SlackRefusal extends Error {
  readonly error: string;
  readonly more: Readonly<Record<string, Json>>;

  constructor(error: string, more: Readonly<Record<string, Json>> = {}) {
    super(error);
    this.error = error;
    this.more = more;
  }
}

/** With the sentence that the platform adds to it. */
export const badArguments = (message: string): SlackRefusal =>
  new SlackRefusal("invalid_arguments", { response_metadata: { messages: [`[ERROR] ${message}`] } });
