/**
 * The list of conversations, loaded page by page from its beginning. Only the beginning becomes stale; rows further down stay
 * until they appear in it again.
 */
import type { Api } from "../../api/client.ts";
import type { Conversation } from "../../api/shapes.ts";
import { Cell } from "../../state/cell.ts";
import { type Loaded, Reader } from "../../state/reader.ts";

export interface ConversationPage {
  readonly sessions: readonly Conversation[];
  /** Cursor of the next page; null: no more conversations. */
  readonly before: string | null;
}

/** What the first screen shows, and the most that the service answers at once. */
const FIRST = 50;
const MOST = 200;

export class ChatList {
  readonly rows = new Cell<ConversationPage | undefined>(undefined);
  readonly #api: Pick<Api, "get">;
  readonly #archived: boolean;
  readonly #top: Reader<ConversationPage>;
  #isReadingMore = false;

  constructor(api: Pick<Api, "get">, archived: boolean) {
    this.#api = api;
    this.#archived = archived;
    this.#top = new Reader((signal) => this.#read(this.#shownCount(), undefined, signal));
    this.#top.state.follow(() => {
      const { data, isReading } = this.#top.state.value;
      if (data !== undefined && !isReading) this.rows.set(withTop(this.rows.value, data));
    });
  }

  get state(): Cell<Loaded<ConversationPage>> {
    return this.#top.state;
  }

  refresh(): Promise<void> {
    return this.#top.refresh();
  }

  stale(): void {
    this.#top.stale();
  }

  stop(): void {
    this.#top.stop();
  }

  /** Reads the page that follows, if there is one. Never rejects: scrolling asks again. */
  async more(): Promise<void> {
    const before = this.rows.value?.before;
    if (this.#isReadingMore || before === undefined || before === null) return;
    this.#isReadingMore = true;
    try {
      const page = await this.#read(MOST, before);
      const shown = this.rows.value;
      // The beginning may have been read again meanwhile, and end elsewhere.
      if (shown?.before === before) this.rows.set(withMore(shown, page));
    } catch {
      // The connection's own line shows the error.
    } finally {
      this.#isReadingMore = false;
    }
  }

  #shownCount(): number {
    return Math.max(FIRST, Math.min(MOST, this.rows.value?.sessions.length ?? 0));
  }

  #read(limit: number, before: string | undefined, signal?: AbortSignal): Promise<ConversationPage> {
    return this.#api.get("/api/sessions", { limit, before, archived: this.#archived ? "true" : undefined }, signal);
  }
}

/** Merges a new beginning: its rows appear there, and nowhere else. */
export function withTop(shown: ConversationPage | undefined, top: ConversationPage): ConversationPage {
  if (shown === undefined || top.before === null) return top;
  const ids = new Set(top.sessions.map(({ id }) => id));
  // What was shown within the beginning and is not there any more was removed, archived, or went further down.
  const below = shown.sessions.slice(top.sessions.length).filter(({ id }) => !ids.has(id));
  return below.length === 0 ? top : { sessions: [...top.sessions, ...below], before: shown.before };
}

export function withMore(shown: ConversationPage, page: ConversationPage): ConversationPage {
  const ids = new Set(shown.sessions.map(({ id }) => id));
  return { sessions: [...shown.sessions, ...page.sessions.filter(({ id }) => !ids.has(id))], before: page.before };
}
