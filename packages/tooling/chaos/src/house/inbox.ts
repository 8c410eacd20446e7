/** What the daemon says of its messages, at `/api/inbox`. */
import type { Lives } from "./lives.ts";

export interface Counts {
  readonly inbox: Readonly<Record<string, number>>;
  readonly outbox: Readonly<Record<string, number>>;
}

export interface Mail {
  readonly channel: string;
  readonly attempts: number;
  readonly conversation: { readonly id: string } | null;
}

interface Listed {
  readonly counts: Counts;
  readonly messages: readonly Mail[];
}

export class InboxView {
  readonly #lives: Lives;
  readonly #token: string;

  constructor(lives: Lives, token: string) {
    this.#lives = lives;
    this.#token = token;
  }

  async counts(): Promise<Counts> {
    return (await this.#list("limit=1")).counts;
  }

  /** Deliveries that wait, as many as one page has. */
  async waitingFor(channel: string): Promise<readonly Mail[]> {
    return (await this.#list(`box=out&state=waiting&channel=${channel}&limit=200`)).messages;
  }

  async #list(query: string): Promise<Listed> {
    const response = await this.#lives.daemon.request(`/api/inbox?${query}`, { token: this.#token });
    if (response.status !== 200) throw new Error(`GET /api/inbox was answered ${response.status}`);
    return (await response.json()) as Listed;
  }
}
