/** One call: what the platform does on it, verb by verb, and what the person at the other end hears. Time is the platform's clock. */
import type { Doing, Heard, LineOptions, Next, LineEvent } from "./line-types.ts";
import type { TwimlNode } from "./twiml.ts";

const MS_A_CHARACTER = 60;

export class Line {
  readonly heard: Heard[] = [];
  readonly #options: LineOptions;
  readonly #watchers = new Set<() => void>();
  #doing: Doing = "ringing";
  #words: string | undefined;
  /** Ends what is waited for; undefined while nothing can be interrupted. */
  #interrupt: ((event: LineEvent) => void) | undefined;
  /** Inputs that are heard now. */
  #hears: readonly LineEvent["kind"][] = [];
  /** It came while a webhook was under way, whose answer it makes void. */
  #pending: LineEvent | undefined;

  constructor(options: LineOptions) {
    this.#options = options;
  }

  get doing(): Doing {
    return this.#doing;
  }

  /** What is being said. */
  get words(): string | undefined {
    return this.#words;
  }

  /** Until the call is over. Never rejects. */
  async perform(first: Next): Promise<void> {
    let next: Next | undefined = first;
    try {
      while (next) next = this.#voided() ?? (await this.#step(next));
    } catch (error) {
      this.#options.failed(error instanceof Error ? error.message : String(error));
    }
    this.#is("over");
    this.#options.ended("completed");
  }

  /** Told of an update, or a hang-up. */
  tell(event: Extract<LineEvent, { kind: "update" | "hangup" }>): void {
    if (this.#interrupt) this.#interrupt(event);
    else this.#pending = event;
  }

  /** False: nobody listens for that now. */
  input(event: Extract<LineEvent, { kind: "speech" | "key" }>): boolean {
    if (!this.#interrupt || !this.#hears.includes(event.kind)) return false;
    this.#interrupt(event);
    return true;
  }

  /** Resolves once it holds. */
  async until(holds: () => boolean): Promise<void> {
    while (!holds()) {
      await new Promise<void>((resolve) => {
        const once = (): void => {
          this.#watchers.delete(once);
          resolve();
        };
        this.#watchers.add(once);
      });
    }
  }

  #is(doing: Doing, words?: string): void {
    this.#doing = doing;
    this.#words = words;
    for (const watcher of this.#watchers) watcher();
  }

  /** What an event that came in between makes of it. */
  #voided(): Next | undefined {
    const event = this.#pending;
    this.#pending = undefined;
    if (event?.kind === "update") return event.next;
    if (event?.kind === "hangup") throw new HungUp();
    return undefined;
  }

  async #step(next: Next): Promise<Next | undefined> {
    try {
      if (next.kind === "document") return await this.#document(next.verbs);
      this.#is("asking");
      const verbs = await this.#options.fetch(next.url, next.fields);
      return this.#voided() ?? { kind: "document", verbs };
    } catch (error) {
      if (error instanceof HungUp) return undefined;
      throw error;
    }
  }

  /** What comes after its last verb: nothing, which ends the call. */
  async #document(verbs: readonly TwimlNode[]): Promise<Next | undefined> {
    for (const verb of verbs) {
      const next = await this.#verb(verb);
      if (next === "over") return undefined;
      if (next) return next;
    }
    return undefined;
  }

  async #verb(verb: TwimlNode): Promise<Next | "over" | undefined> {
    const { name, attributes, text } = verb;
    switch (name) {
      case "Hangup":
      case "Reject":
        return "over";
      case "Redirect":
        return { kind: "fetch", url: text.trim(), fields: {} };
      case "Pause":
        return leaving(await this.#wait("pausing", Number(attributes["length"] ?? 1) * 1000));
      case "Gather":
        return this.#gather(verb);
      case "Record":
        return this.#record(verb);
      default:
        return leaving(await this.#say(verb));
    }
  }

  async #gather({ attributes, children }: TwimlNode): Promise<Next | undefined> {
    const inputs = (attributes["input"] ?? "dtmf").split(" ").map((input) => (input === "dtmf" ? "key" : "speech"));
    let event: LineEvent | undefined;
    for (const child of children) event ??= await this.#say(child, inputs);
    event ??= await this.#wait("listening", Number(attributes["timeout"] ?? 5) * 1000, inputs);
    if (event === undefined || event.kind === "update" || event.kind === "hangup") return leaving(event);
    const fields: Record<string, string> =
      event.kind === "key" ? { Digits: event.key } : { SpeechResult: event.text, Confidence: "0.9" };
    return { kind: "fetch", url: attributes["action"]!, fields };
  }

  async #record({ attributes }: TwimlNode): Promise<Next | undefined> {
    const event = await this.#wait("recording", Number(attributes["timeout"] ?? 5) * 1000, ["speech"]);
    if (event?.kind !== "speech") return leaving(event);
    return { kind: "fetch", url: attributes["action"]!, fields: this.#options.record(event.text) };
  }

  /** `hears`: what interrupts it. */
  async #say(
    { name, text, attributes }: TwimlNode,
    hears: readonly LineEvent["kind"][] = [],
  ): Promise<LineEvent | undefined> {
    if (name === "Pause") return this.#wait("pausing", Number(attributes["length"] ?? 1) * 1000, hears);
    const by = name === "Play" ? "audio" : "voice";
    let words = text;
    if (by === "audio") {
      this.#is("asking");
      words = Buffer.from(await this.#options.audio(text.trim())).toString("utf8");
    }
    const event = await this.#wait("saying", words.length * MS_A_CHARACTER, hears, words);
    const cut = event && (event.kind === "update" || event.kind === "hangup" ? event.kind : "caller");
    this.heard.push({ text: words, by, ...(cut && { cut }) });
    return event;
  }

  /** Undefined: the time has passed. */
  async #wait(
    doing: Doing,
    ms: number,
    hears: readonly LineEvent["kind"][] = [],
    words?: string,
  ): Promise<LineEvent | undefined> {
    const { promise, resolve } = Promise.withResolvers<LineEvent | undefined>();
    const cancel = this.#options.clock.after(ms, () => resolve(undefined));
    this.#interrupt = resolve;
    this.#hears = hears;
    this.#is(doing, words);
    if (this.#pending) resolve(this.#pending);
    this.#pending = undefined;
    const event = await promise;
    cancel();
    this.#interrupt = undefined;
    this.#hears = [];
    return event;
  }
}

/** Where an event leads that ends a verb before its time; undefined: nowhere. Throws for the end of the call. */
function leaving(event: LineEvent | undefined): Next | undefined {
  if (event?.kind === "hangup") throw new HungUp();
  return event?.kind === "update" ? event.next : undefined;
}

class HungUp extends Error {}
