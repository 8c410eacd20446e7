/** Whoever follows along with a daemon, by a stream or by a socket: what it was told, and how that ended. */
import type { RunningBinary } from "@svc/testkit/binary/start-binary";

export interface Told {
  readonly id?: string;
  readonly type: string;
  readonly payload?: Readonly<Record<string, unknown>>;
  readonly [field: string]: unknown;
}

export class Follower {
  readonly told: Told[] = [];
  /** How it ended: the code of a WebSocket. */
  readonly ended: Promise<number | undefined>;
  /** What this one sends, if it can. */
  readonly say: (frame: object) => void;
  #waiting: (() => void)[] = [];

  private constructor(ended: (follower: Follower) => Promise<number | undefined>, say: (frame: object) => void) {
    this.say = say;
    this.ended = ended(this);
  }

  static async stream(daemon: RunningBinary, token: string, after?: string): Promise<Follower> {
    const headers = after === undefined ? {} : { "last-event-id": after };
    const response = await daemon.request("/api/events", { token, headers });
    if (response.status !== 200) throw new Error(`refused: ${await response.text()}`);
    const reading = async (follower: Follower): Promise<undefined> => {
      let text = "";
      for await (const chunk of response.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        const blocks = text.split("\n\n");
        text = blocks.pop()!;
        for (const block of blocks) {
          const data = /^data: (.*)$/m.exec(block)?.[1];
          if (data !== undefined) follower.#hear(JSON.parse(data));
        }
      }
    };
    return new Follower(reading, () => {});
  }

  static async socket(daemon: RunningBinary, token: string): Promise<Follower> {
    const ws = new WebSocket(`${daemon.url.replace("http", "ws")}/ws`, ["svc.v1", `bearer.${token}`]);
    await new Promise((resolve, reject) => {
      ws.addEventListener("open", resolve);
      ws.addEventListener("error", reject);
    });
    const listening = (follower: Follower): Promise<number> =>
      new Promise((resolve) => {
        ws.addEventListener("message", ({ data }) => follower.#hear(JSON.parse(String(data))));
        ws.addEventListener("close", ({ code }) => resolve(code));
      });
    const follower = new Follower(listening, (frame) => ws.send(JSON.stringify(frame)));
    follower.say({ type: "resume" });
    return follower;
  }

  /** Resolves with the first of this type. */
  async first(type: string): Promise<Told> {
    for (;;) {
      const found = this.told.find((one) => one.type === type);
      if (found) return found;
      await new Promise<void>((look) => this.#waiting.push(look));
    }
  }

  get types(): string[] {
    return this.told.map(({ type }) => type).filter((type) => type !== "channel-health");
  }

  #hear(told: Told): void {
    this.told.push(told);
    for (const look of this.#waiting.splice(0)) look();
  }
}
