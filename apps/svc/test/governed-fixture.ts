/** A channel fixture whose person may approve, with procedures, and a stream of what happens. */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type ChannelFixture, PERSON, startChannelFixture } from "./channel-fixture.ts";

export interface WireEvent {
  readonly id: string;
  readonly type: string;
  readonly timestamp: string;
  readonly payload: { readonly [name: string]: unknown };
}

/** The person is an approver, and notifications go to them. */
export const APPROVER = `approvers = ["${PERSON}"]\nnotification_target = "${PERSON}"`;

export const startGovernedFixture = (more = ""): Promise<ChannelFixture> => startChannelFixture(more, APPROVER);

export interface ProcedureFiles {
  readonly toml: string;
  readonly md?: string;
}

export function writeProcedure(home: string, name: string, { toml, md = STEPS }: ProcedureFiles): void {
  const folder = join(home, "workspace", "sops", name);
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "SOP.md"), md);
  writeFileSync(join(folder, "SOP.toml"), toml);
}

const STEPS = `# A procedure

## Steps

1. **Look** — Look at what was brought.
2. **Say** — Say that it is done.
`;

/** Server-sent events as they come, from one request. */
export class EventReader implements AsyncDisposable {
  readonly events: WireEvent[] = [];
  readonly #abort = new AbortController();
  readonly #reading: Promise<void>;

  private constructor(response: Response) {
    this.#reading = this.#read(response).catch(() => undefined);
  }

  static async open(url: string, token: string, lastEventId?: string): Promise<EventReader> {
    const headers = { authorization: `Bearer ${token}`, ...(lastEventId && { "last-event-id": lastEventId }) };
    const response = await fetch(`${url}/api/events`, { headers });
    if (response.status !== 200) throw new Error(`/api/events was answered ${response.status}`);
    return new EventReader(response);
  }

  ofType(type: string): WireEvent[] {
    return this.events.filter((event) => event.type === type);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#abort.abort();
    await this.#reading;
  }

  async #read({ body }: Response): Promise<void> {
    const reader = body!.getReader();
    this.#abort.signal.addEventListener("abort", () => void reader.cancel().catch(() => undefined));
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { done, value } = await reader.read();
      if (done) return;
      rest += decoder.decode(value, { stream: true });
      const frames = rest.split("\n\n");
      rest = frames.pop()!;
      for (const frame of frames) {
        const data = /^data: ?(.*)$/m.exec(frame)?.[1];
        if (data !== undefined) this.events.push(JSON.parse(data) as WireEvent);
      }
    }
  }
}
