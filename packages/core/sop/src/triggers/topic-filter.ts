/**
 * Topic filters of MQTT: `+` stands for one level, `#` at the end for all that follow, and for the level before it
 * (`a/#` matches `a`). A filter that begins with either matches no topic that begins with `$` (MQTT 3.1.1, section 4.7.2).
 */

/** UTF-8 bytes: what the length of a topic in a packet can say. */
const MOST_BYTES = 65_535;

/** Completes a sentence about the filter; undefined: it is one. */
export function topicFilterFault(filter: string): string | undefined {
  if (filter.includes("\0")) return "must not contain a NUL character";
  if (Buffer.byteLength(filter) > MOST_BYTES) return "must be at most 65535 bytes long";
  if (filter.startsWith("$share/")) return "must be a topic filter without $share; the trigger sees each message once";
  const levels = filter.split("/");
  const hash = levels.findIndex((level) => level.includes("#"));
  if (hash >= 0 && (levels[hash] !== "#" || hash < levels.length - 1)) return "may have # only as its last level";
  return levels.some((level) => level.includes("+") && level !== "+") ? "may have + only as a whole level" : undefined;
}

export function topicMatches(filter: string, topic: string): boolean {
  const tree = new TopicTree<true>();
  tree.add(filter, true);
  return tree.matching(topic).length > 0;
}

interface Node<Value> {
  readonly below: Map<string, Node<Value>>;
  readonly here: Value[];
  /** Of filters that end in `#` below this level. */
  readonly rest: Value[];
}

/** Values by filter. A search visits levels of filters that match so far, not every filter. */
export class TopicTree<Value> {
  readonly #root: Node<Value> = emptyNode();

  add(filter: string, value: Value): void {
    const levels = filter.split("/");
    const isOpen = levels.at(-1) === "#";
    let node = this.#root;
    for (const level of isOpen ? levels.slice(0, -1) : levels) {
      const next = node.below.get(level) ?? emptyNode<Value>();
      node.below.set(level, next);
      node = next;
    }
    (isOpen ? node.rest : node.here).push(value);
  }

  /** Each value once for each filter that matches. */
  matching(topic: string): Value[] {
    const found: Value[] = [];
    let nodes = [this.#root];
    const hasReservedRoot = topic.startsWith("$");
    for (const [depth, level] of topic.split("/").entries()) {
      if (nodes.length === 0) break;
      const skipsWildcards = depth === 0 && hasReservedRoot;
      if (!skipsWildcards) for (const { rest } of nodes) found.push(...rest);
      nodes = nodes.flatMap(({ below }) =>
        [below.get(level), skipsWildcards ? undefined : below.get("+")].filter((node) => node !== undefined),
      );
    }
    for (const { here, rest } of nodes) found.push(...here, ...rest);
    return found;
  }
}

const emptyNode = <Value>(): Node<Value> => ({ below: new Map(), here: [], rest: [] });
