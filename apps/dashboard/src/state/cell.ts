/** A value that others follow. */
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

  /** Call the result to end it. */
  follow(follower: () => void): () => void {
    this.#followers.add(follower);
    return () => this.#followers.delete(follower);
  }
}

/** The component is drawn again whenever the value changes. */
export function useCell<Value>(cell: Cell<Value>): Value {
  const [, redraw] = useReducer<number, void>((count) => count + 1, 0);
  const drawn = cell.value;
  useLayoutEffect(() => {
    const end = cell.follow(() => redraw());
    // It may have changed between the drawing and now.
    if (!Object.is(drawn, cell.value)) redraw();
    return end;
  }, [cell]);
  return drawn;
}
