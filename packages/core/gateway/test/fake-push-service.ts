/** What push messages go out by and are kept in, in memory. */
import { type FetchOptions, type FetchResult, type SecretStore, SvcError } from "@svc/contract";
import { memorySecrets } from "@svc/testkit/memory-secrets";

export interface Pushed {
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Uint8Array;
}

/** In place of the guarded client. */
export class FakePushService {
  readonly pushed: Pushed[] = [];
  /** Answers in order; 201 when there is none left. */
  answers: (number | SvcError | Partial<FetchResult>)[] = [];
  /** As long as it is set, endpoints can't be resolved. */
  unresolved: SvcError | undefined;
  #waiting: (() => void)[] = [];

  readonly fetch = async (url: string, options: FetchOptions): Promise<FetchResult> => {
    this.pushed.push({ url, headers: options.headers ?? {}, body: options.body as Uint8Array });
    for (const waiting of this.#waiting.splice(0)) waiting();
    const answer = this.answers.shift() ?? 201;
    if (answer instanceof SvcError) throw answer;
    const changed = typeof answer === "number" ? { status: answer } : answer;
    return { status: 201, headers: {}, bytes: new Uint8Array(), truncated: false, url, ...changed };
  };

  readonly resolve = async (): Promise<void> => {
    if (this.unresolved) throw this.unresolved;
  };

  /** Resolves when it has got so many. */
  async got(count: number): Promise<void> {
    while (this.pushed.length < count) await new Promise<void>((resolve) => this.#waiting.push(resolve));
  }
}

/** The encrypted store, on a disk that may refuse. */
export class FakePushSecrets implements SecretStore {
  readonly #kept = memorySecrets();
  /** As long as it is set, nothing can be read or written. */
  fails: SvcError | undefined;

  async get(name: string): Promise<string | undefined> {
    return this.#checked().get(name);
  }

  async set(name: string, value: string): Promise<void> {
    return this.#checked().set(name, value);
  }

  async delete(name: string): Promise<boolean> {
    return this.#checked().delete(name);
  }

  async list(prefix?: string): Promise<string[]> {
    return this.#checked().list(prefix);
  }

  #checked(): SecretStore {
    if (this.fails) throw this.fails;
    return this.#kept;
  }
}
