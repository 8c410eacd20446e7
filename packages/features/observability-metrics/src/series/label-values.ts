/**
 * Values of a label. Memory and output grow with every combination of values ever seen, so each label has a bound. `GET /metrics`
 * is public, so a value is a name, never text that a person wrote.
 */

/** Different values of one label, `other` apart. */
export const MAX_VALUES = 200;

/** Replaces values that are not names, and names beyond the bound. */
export const OTHER = "other";

/** Names of routes, models, tools, channels, agents and procedures; no space, quote or line break. */
const NAME = /^[\w./:@+{}*-]{1,100}$/;

export class LabelValues {
  readonly #known = new Map<string, Set<string>>();

  /** The value, or `other`. One that was taken once is always taken. */
  of(label: string, value: string): string {
    let known = this.#known.get(label);
    if (known === undefined) this.#known.set(label, (known = new Set()));
    if (known.has(value)) return value;
    if (known.size >= MAX_VALUES || !NAME.test(value)) return OTHER;
    known.add(value);
    return value;
  }
}
