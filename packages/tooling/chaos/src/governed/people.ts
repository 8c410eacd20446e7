/** People who answer what waits, by the API and in the chat, as long as anything does. */
import { crc32 } from "node:zlib";
import type { Lives } from "../fixture/lives.ts";
import { sleep } from "../fixture/sleep.ts";
import { writtenToProviderA } from "../providers/provider-a.ts";
import { APPROVER } from "./fixture.ts";
import { labelOf } from "./model.ts";
import { posted } from "./triggers.ts";

interface Waiting {
  readonly n: number;
  readonly run_id: string;
  readonly step_id: string;
  readonly message: string;
}

const LOOK_MS = 15;
/** The others are answered in the chat. */
const BY_API = 0.6;
const REJECTED = 7;

export class People {
  /** Approvals whose answer was acknowledged by the API: nobody else's may count. */
  readonly acknowledged = new Map<number, boolean>();
  /** Replies that the service has taken over from the platform. */
  readonly written = new Set<number>();
  readonly #lives: Lives;
  readonly #token: string;
  readonly #random: () => number;
  #isOver = false;

  constructor(lives: Lives, token: string, random: () => number) {
    this.#lives = lives;
    this.#token = token;
    this.#random = random;
  }

  /** Until `end` is called. */
  async answer(): Promise<void> {
    while (!this.#isOver) {
      await this.#lives.up();
      await Promise.all((await this.#waiting()).map((one) => this.#answer(one)));
      await sleep(LOOK_MS);
    }
  }

  end(): void {
    this.#isOver = true;
  }

  async #answer(one: Waiting): Promise<void> {
    const approved = isApproved(one);
    if (this.#random() < BY_API) {
      const path = `/api/approvals/${encodeURIComponent(one.run_id)}/${one.step_id}`;
      const status = await posted(this.#lives, path, { approved }, { authorization: `Bearer ${this.#token}` });
      if (status === 200) this.acknowledged.set(one.n, approved);
    } else if (!this.written.has(one.n)) {
      const text = `${approved ? "approve" : "reject"} #${one.n}`;
      const { headers, body } = writtenToProviderA(APPROVER, `wamid.reply-${one.n}`, text);
      const answer = await fetch(`${this.#lives.url}/provider-a`, {
        method: "POST",
        headers: { ...headers },
        body: Buffer.from(body),
      }).catch(() => undefined);
      if (answer?.status === 200) this.written.add(one.n);
    }
  }

  async #waiting(): Promise<readonly Waiting[]> {
    try {
      const headers = { authorization: `Bearer ${this.#token}` };
      const answer = await fetch(`${this.#lives.url}/api/approvals?status=waiting&limit=50`, { headers });
      return answer.status === 200 ? ((await answer.json()) as { approvals: Waiting[] }).approvals : [];
    } catch {
      return [];
    }
  }
}

/** The same for each person and each repetition. */
const isApproved = ({ message, step_id: stepId }: Waiting): boolean =>
  stepId.endsWith("-interrupted") || crc32(`${labelOf(message)} ${stepId}`) % REJECTED !== 0;
