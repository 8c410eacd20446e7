/** Triggers of procedures. Each is repeated until it is acknowledged as stored. */
import type { Lives } from "../fixture/lives.ts";
import { sleep } from "../fixture/sleep.ts";
import { type Kind, KINDS, pathOf } from "./files.ts";

export interface Trigger {
  readonly label: string;
  readonly kind: Kind;
}

export const triggersOf = (count: number): Trigger[] =>
  Array.from({ length: count }, (_, index) => {
    const kind = KINDS[index % KINDS.length]!;
    return { kind, label: `${kind}-${index}` };
  });

/** The step of the question that `ask` asks. */
const ASKED_STEP = "release";

const REST_MS = 20;
/** No answer, or one of a service that goes down. */
const AGAIN: ReadonlySet<number> = new Set([0, 503]);

/** Resolves with what was answered that should not have been; undefined: it is kept. */
export async function pull(lives: Lives, token: string, { kind, label }: Trigger): Promise<string | undefined> {
  for (let attempt = 1; ; attempt += 1) {
    await lives.up();
    const status = await (kind === "ask" ? ask(lives, label) : start(lives, token, kind, label));
    // The answer to the first attempt got lost, and a person has approved or rejected since.
    const isKept = status === 200 || status === 202 || (kind === "ask" && status === 409 && attempt > 1);
    if (isKept) return undefined;
    if (!AGAIN.has(status)) return `${label} was answered ${status}`;
    await sleep(REST_MS);
  }
}

const start = (lives: Lives, token: string, kind: Kind, label: string): Promise<number> =>
  posted(
    lives,
    pathOf(kind),
    { label, first: `${label}/1\n` },
    { authorization: `Bearer ${token}`, "x-idempotency-key": label },
  );

const ask = (lives: Lives, label: string): Promise<number> =>
  posted(lives, "/api/channel-events", {
    type: "human_approval_request",
    content: { title: "Of the harness", message: JSON.stringify({ label }) },
    channels: ["provider_a"],
    run_id: label,
    step_id: ASKED_STEP,
  });

/** The status; 0 without an answer. */
export async function posted(
  { url }: Pick<Lives, "url">,
  path: string,
  body: object,
  headers: Readonly<Record<string, string>> = {},
): Promise<number> {
  try {
    const answer = await fetch(url + path, {
      method: "POST",
      headers: { "content-type": "application/json", ...headers },
      body: JSON.stringify(body),
    });
    await answer.arrayBuffer();
    return answer.status;
  } catch {
    return 0;
  }
}
