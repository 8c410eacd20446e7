/**
 * How far a call has come. It stands in the URLs that the platform calls next, which the platform signs: a new process, and one
 * that lost the answer of a request, learn of it what the caller has heard.
 */
export interface Place {
  /** Counts the documents of the call: a webhook with an older one came late. */
  readonly step: number;
  /** Number of what the caller says next, from 1 on. */
  readonly turn: number;
  /** Tag of what was said to the caller last; undefined: nothing but the greeting. */
  readonly said: string | undefined;
  /** How often the caller was told to wait for the answer that is due; undefined: none is. */
  readonly hold: number | undefined;
  /** How often in a row the caller said nothing. */
  readonly quiet: number;
  /** Milliseconds since the epoch. */
  readonly beganMs: number;
  /** When this was written into the URL, milliseconds since the epoch. */
  readonly atMs: number;
  /** The question that a key answers. */
  readonly ask: Asked | undefined;
}

export interface Asked {
  /** `Prompt.id`. */
  readonly prompt: string;
  /** Labels. */
  readonly approve: string;
  readonly reject: string;
}

export const firstPlace = (nowMs: number): Place => ({
  step: 1,
  turn: 1,
  said: undefined,
  hold: undefined,
  quiet: 0,
  beganMs: nowMs,
  atMs: nowMs,
  ask: undefined,
});

/** The place of the next document. */
export const onward = (
  place: Place,
  nowMs: number,
  change: Partial<Omit<Place, "step" | "beganMs" | "atMs">> = {},
): Place => ({ ...place, ask: undefined, ...change, step: place.step + 1, atMs: nowMs });

/** Begins with `?`. */
export function queryOf({ step, turn, said, hold, quiet, beganMs, atMs, ask }: Place): string {
  const query = new URLSearchParams({
    step: String(step),
    turn: String(turn),
    began: String(beganMs),
    at: String(atMs),
  });
  if (said !== undefined) query.set("said", said);
  if (hold !== undefined) query.set("hold", String(hold));
  if (quiet > 0) query.set("quiet", String(quiet));
  if (ask) {
    query.set("ask", ask.prompt);
    query.set("yes", ask.approve);
    query.set("no", ask.reject);
  }
  return `?${query}`;
}

/** Missing or invalid values get their initial value, so that the call continues. */
export function placeOf(query: URLSearchParams, nowMs: number): Place {
  const number = (name: string): number | undefined => {
    const text = query.get(name) ?? "";
    return /^[0-9]{1,15}$/.test(text) ? Number(text) : undefined;
  };
  const said = query.get("said") ?? "";
  return {
    step: number("step") ?? 1,
    turn: number("turn") ?? 1,
    said: /^[0-9a-f]{16}$/.test(said) ? said : undefined,
    hold: number("hold"),
    quiet: number("quiet") ?? 0,
    beganMs: number("began") ?? nowMs,
    atMs: number("at") ?? nowMs,
    ask: askedOf(query),
  };
}

function askedOf(query: URLSearchParams): Asked | undefined {
  const [prompt = "", approve = "", reject = ""] = ["ask", "yes", "no"].map((name) => query.get(name) ?? "");
  return /^[a-z0-9-]{1,32}$/.test(prompt) && approve !== "" && reject !== "" ? { prompt, approve, reject } : undefined;
}
