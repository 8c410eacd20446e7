/** The service without gateway and control socket, for one command. It takes the home's lock, so a daemon and this never share a database. */
import { SvcError } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import type { Backend } from "./backend.ts";
import { answer } from "./control.ts";
import { openContext, prepareHome } from "./context.ts";
import { openService } from "./open-service.ts";
import { serviceHandlers } from "./handlers/service.ts";

export async function openLocally(context: CommandContext): Promise<Backend> {
  await prepareHome(context);
  const never = new AbortController().signal;
  const service = await openService(await openContext(context, true), { signal: never, isDaemon: false });
  const handlers = await serviceHandlers(service);
  const interruption = new Interruption();
  return {
    isDaemon: false,
    call: (call) => interruption.during(call.signal ?? never, (either) => answer(handlers, call, either)),
    [Symbol.asyncDispose]: async () => {
      interruption.stopWatching();
      await service.close();
    },
  };
}

/**
 * Ctrl-C and SIGTERM while a call runs end the call, and with it the commands it started: those have process groups of
 * their own and would live on. When nothing runs, or at the second signal, the process ends as it would anyway.
 */
class Interruption {
  readonly #interrupted = new AbortController();
  #running = 0;

  constructor() {
    for (const name of SIGNALS) process.once(name, this.#onSignal);
  }

  async during<T>(signal: AbortSignal, call: (either: AbortSignal) => Promise<T>): Promise<T> {
    this.#running += 1;
    try {
      return await call(AbortSignal.any([signal, this.#interrupted.signal]));
    } finally {
      this.#running -= 1;
    }
  }

  stopWatching(): void {
    for (const name of SIGNALS) process.off(name, this.#onSignal);
  }

  readonly #onSignal = (name: NodeJS.Signals): void => {
    this.stopWatching();
    if (this.#running === 0) process.kill(process.pid, name);
    else this.#interrupted.abort(new SvcError("TURN_CANCELLED", "It was interrupted."));
  };
}

const SIGNALS = ["SIGINT", "SIGTERM", "SIGHUP"] as const;
