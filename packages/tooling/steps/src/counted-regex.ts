/**
 * A regular expression run by backtracking, as V8 runs it, with every step counted: one for each character, alternative and
 * repetition that is tried. It says where the match is, so that each run can be held against the real one.
 */
import { type AST, parseRegExpLiteral } from "@eslint-community/regexpp";

export interface Run {
  readonly steps: number;
  /** Where the match begins and ends; undefined: none. */
  readonly match: readonly [number, number] | undefined;
}

type Next = (at: number) => boolean;
/** Whether it matches from `at` so that the rest does. */
type Matcher = (at: number, next: Next) => boolean;

/** Before any prototype is changed. */
const { exec } = RegExp.prototype;

export class CountedRegex {
  readonly #flags: string;
  readonly #isUnicode: boolean;
  readonly #start: Matcher;
  #text = "";
  #steps = 0;
  #captures: (readonly [number, number] | undefined)[] = [];

  constructor(source: string, flags: string) {
    this.#flags = flags;
    this.#isUnicode = /[uv]/.test(flags);
    this.#start = this.#alternatives(parseRegExpLiteral(`/${source}/${flags}`).pattern.alternatives, false);
  }

  run(text: string, lastIndex: number): Run {
    this.#text = text;
    this.#steps = 0;
    for (let at = lastIndex; at <= text.length; at += this.#widthAt(at)) {
      this.#captures = [];
      this.#steps += 1;
      let end = -1;
      if (this.#start(at, (reached) => ((end = reached), true))) return { steps: this.#steps, match: [at, end] };
      if (this.#flags.includes("y")) break;
    }
    return { steps: this.#steps, match: undefined };
  }

  #widthAt(at: number): number {
    return this.#isUnicode && (this.#text.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
  }

  #alternatives(all: readonly AST.Alternative[], isBackward: boolean): Matcher {
    const matchers = all.map(({ elements }) => this.#sequence(elements, isBackward));
    if (matchers.length === 1) return matchers[0]!;
    return (at, next) => {
      for (const matcher of matchers) {
        this.#steps += 1;
        if (matcher(at, next)) return true;
      }
      return false;
    };
  }

  #sequence(elements: readonly AST.Element[], isBackward: boolean): Matcher {
    const matchers = elements.map((element) => this.#element(element, isBackward));
    if (isBackward) matchers.reverse();
    return matchers.reduceRight<Matcher>(
      (rest, matcher) => (at, next) => matcher(at, (reached) => rest(reached, next)),
      (at, next) => next(at),
    );
  }

  #element(element: AST.Element, isBackward: boolean): Matcher {
    switch (element.type) {
      case "Assertion":
        return this.#assertion(element);
      case "Quantifier":
        return this.#quantifier(element, isBackward);
      case "Group":
        return this.#alternatives(element.alternatives, isBackward);
      case "CapturingGroup":
        return this.#capturing(element, isBackward);
      case "Backreference":
        return this.#backreference(element);
      default: {
        const step = this.#character(element, isBackward);
        return (at, next) => {
          const reached = step(at);
          return reached >= 0 && next(reached);
        };
      }
    }
  }

  /** Where one character leads to; -1: it does not fit. */
  #character({ raw }: { readonly raw: string }, isBackward: boolean): (at: number) => number {
    const one = new RegExp(`^(?:${raw})$`, this.#flags.replaceAll(/[dgmy]/g, ""));
    const known = new Map<string, boolean>();
    return (at) => {
      this.#steps += 1;
      if (isBackward ? at === 0 : at >= this.#text.length) return -1;
      const width = isBackward ? this.#widthBefore(at) : this.#widthAt(at);
      const [from, to] = isBackward ? [at - width, at] : [at, at + width];
      const character = this.#text.slice(from, to);
      const fits = known.get(character) ?? exec.call(one, character) !== null;
      known.set(character, fits);
      if (!fits) return -1;
      return isBackward ? from : to;
    };
  }

  #widthBefore(at: number): number {
    return this.#isUnicode && at > 1 && (this.#text.codePointAt(at - 2) ?? 0) > 0xffff ? 2 : 1;
  }

  #assertion(assertion: AST.Assertion): Matcher {
    if (assertion.kind === "lookahead" || assertion.kind === "lookbehind") {
      const inside = this.#alternatives(assertion.alternatives, assertion.kind === "lookbehind");
      return (at, next) => inside(at, () => true) !== assertion.negate && next(at);
    }
    // Few and short: the real one says whether it holds, at the place with its neighbours.
    const one = new RegExp(assertion.raw, `${this.#flags.replaceAll(/[dgy]/g, "")}y`);
    return (at, next) => {
      this.#steps += 1;
      one.lastIndex = at;
      return exec.call(one, this.#text) !== null && next(at);
    };
  }

  #capturing(group: AST.CapturingGroup, isBackward: boolean): Matcher {
    const inside = this.#alternatives(group.alternatives, isBackward);
    const number = this.#numberOf(group);
    return (at, next) =>
      inside(at, (reached) => {
        const before = this.#captures[number];
        this.#captures[number] = [Math.min(at, reached), Math.max(at, reached)];
        if (next(reached)) return true;
        this.#captures[number] = before;
        return false;
      });
  }

  readonly #groups: AST.CapturingGroup[] = [];

  #numberOf(group: AST.CapturingGroup): number {
    const known = this.#groups.indexOf(group);
    return known >= 0 ? known : this.#groups.push(group) - 1;
  }

  #backreference({ resolved }: AST.Backreference): Matcher {
    const [group] = [resolved].flat();
    return (at, next) => {
      const captured = group && this.#captures[this.#numberOf(group)];
      if (captured === undefined) return next(at);
      const text = this.#text.slice(...captured);
      this.#steps += text.length + 1;
      return this.#text.startsWith(text, at) && next(at + text.length);
    };
  }

  #quantifier({ element, min, max, greedy }: AST.Quantifier, isBackward: boolean): Matcher {
    if (element.type === "Character" || element.type === "CharacterSet" || element.type.endsWith("CharacterClass")) {
      return this.#run(this.#character(element, isBackward), min, max, greedy);
    }
    const inside = this.#element(element, isBackward);
    const again = (count: number, at: number, next: Next): boolean => {
      this.#steps += 1;
      const more = (): boolean =>
        count < max && inside(at, (reached) => (reached !== at || count < min) && again(count + 1, reached, next));
      if (count < min) return more();
      return greedy ? more() || next(at) : next(at) || more();
    };
    return (at, next) => again(0, at, next);
  }

  /** A repeated character, without a call inside a call for each. */
  #run(step: (at: number) => number, min: number, max: number, greedy: boolean): Matcher {
    return (start, next) => {
      const places = [start];
      const more = (): boolean => {
        const reached = places.length <= max ? step(places.at(-1)!) : -1;
        if (reached >= 0) places.push(reached);
        return reached >= 0;
      };
      while (places.length <= min) if (!more()) return false;
      if (!greedy) {
        do if (next(places.at(-1)!)) return true;
        while (more());
        return false;
      }
      while (more());
      for (; places.length > min; places.pop()) if (next(places.at(-1)!)) return true;
      return false;
    };
  }
}
