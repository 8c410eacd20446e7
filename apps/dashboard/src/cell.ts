/** An observable value. */
import { useLayoutEffect, useReducer } from "preact/hooks";

export class Cell<Value> {
  #value: Value;
  readonly #followers = new Set<() => void>();

  constructor(value: Value) {
    this.#value = value;
  }

  get value(): Value {
    return this.#value;
  }

  set(value: Value): void {
    if (Object.is(value, this.#value)) return;
    this.#value = value;
    for (const follow of this.#followers) follow();
  }

  /** Returns a function that stops it. */
  follow(follower: () => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }
}

/** Re-renders the component when the value changes. */
export function useCell<Value>(cell: Cell<Value>): Value {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const drawn = cell.value;
  useLayoutEffect(() => {
    const end = cell.follow(() => redraw());
    // The value may have changed since the render.
    if (!Object.is(drawn, cell.value)) redraw();
    return end;
  }, [cell]);
  return drawn;
}
