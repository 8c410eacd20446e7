/** A line to a board: bytes there and back. What comes is buffered, and read piece by piece as the protocol has it. */
import { type Clock, SvcError } from "@svc/contract";

export interface Link {
  readonly incoming: Incoming;
  /** Resolves once the system has taken it. Rejects with BOARD_LOST. */
  write(bytes: Uint8Array | string): Promise<void>;
  /** Idempotent; what waits for bytes ends with BOARD_LOST. */
  close(): Promise<void>;
}

/** Undefined: more bytes are needed. */
export type Parse<T> = (bytes: Buffer) => { readonly value: T; readonly used: number } | undefined;

/** Limit of unread bytes; older ones are dropped. A board that prints in a loop must not fill the memory. */
const MOST_UNREAD_BYTES = 65_536;

export class Incoming {
  #bytes: Buffer = Buffer.alloc(0);
  #end: SvcError | undefined;
  #wake: (() => void) | undefined;

  push(chunk: Uint8Array): void {
    const bytes = Buffer.concat([this.#bytes, chunk]);
    this.#bytes = this.#wake || bytes.length <= MOST_UNREAD_BYTES ? bytes : bytes.subarray(-MOST_UNREAD_BYTES);
    this.#wake?.();
  }

  /** Nothing more comes. */
  end(error: SvcError): void {
    this.#end ??= error;
    this.#wake?.();
  }

  get hasEnded(): boolean {
    return this.#end !== undefined;
  }

  /** Forgets what was not read. */
  discard(): void {
    this.#bytes = Buffer.alloc(0);
  }

  /** Rejects with what `parse` throws, with the signal's reason, and with why nothing more comes. */
  async take<T>(parse: Parse<T>, signal: AbortSignal): Promise<T> {
    for (;;) {
      signal.throwIfAborted();
      const found = parse(this.#bytes);
      if (found) {
        this.#bytes = this.#bytes.subarray(found.used);
        return found.value;
      }
      if (this.#end) throw this.#end;
      await this.#more(signal);
    }
  }

  async #more(signal: AbortSignal): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#wake = resolve;
    signal.addEventListener("abort", resolve as () => void, { once: true });
    try {
      await promise;
    } finally {
      this.#wake = undefined;
      signal.removeEventListener("abort", resolve as () => void);
    }
  }
}

/** Aborts `work` after `ms` with `error`. */
export async function withTimeout<T>(
  { clock, ms, signal, error }: { clock: Clock; ms: number; signal: AbortSignal; error: () => SvcError },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController();
  const cancel = clock.after(ms, () => limit.abort(error()));
  try {
    return await work(AbortSignal.any([signal, limit.signal]));
  } finally {
    cancel();
  }
}

export const lost = (what: string): SvcError =>
  new SvcError(
    "BOARD_LOST",
    `${what} was disconnected. A command that was running may have acted; it is not repeated.`,
    {
      hint: "Reconnect the board, check its state, and repeat the command if that is safe.",
    },
  );
