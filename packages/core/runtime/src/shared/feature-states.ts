/** All the state that one construction of a feature asked for. Another construction has another. */
import type { ClientId, FeatureContext, PerClient, PerClientOptions, SharedHandle } from "@svc/contract";
import { ClientStates } from "./client-states.ts";
import { Cell, Handle } from "./handle.ts";

const NAME = /^[a-z][a-z0-9_-]{0,63}$/;

export class FeatureStates implements Pick<FeatureContext, "shared" | "perClient"> {
  readonly #names = new Set<string>();
  readonly #perClient: Pick<ClientStates<never>, "forget">[] = [];
  #isConstructed = false;

  /** Throws TypeError: a bad name, one that was given before, or Construction is over. */
  readonly shared = <T>(name: string, initial: T): SharedHandle<T> => {
    this.#claim(name);
    const cell = new Cell(name, initial);
    return new Handle(name, () => cell);
  };

  /** Throws TypeError as `shared`, and for a bad limit. */
  readonly perClient = <T>(name: string, initial: () => T, options?: PerClientOptions): PerClient<T> => {
    this.#claim(name);
    const states = new ClientStates(name, initial, options);
    this.#perClient.push(states);
    return states;
  };

  /** Construction is over: what there is now is all there will be. */
  seal(): void {
    this.#isConstructed = true;
  }

  /** The client is gone for good. */
  forget(clientId: ClientId): void {
    for (const states of this.#perClient) states.forget(clientId);
  }

  #claim(name: string): void {
    if (this.#isConstructed) throw new TypeError("A feature asks for its state in create(), and not later.");
    if (!NAME.test(name)) throw new TypeError("The name of a state is a-z, then a-z 0-9 _ -, at most 64.");
    if (this.#names.has(name)) throw new TypeError(`Two states have the name ${JSON.stringify(name)}.`);
    this.#names.add(name);
  }
}
