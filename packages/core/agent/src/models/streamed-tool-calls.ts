/**
 * Tool calls that come in fragments. Servers differ in what ties a fragment to its call: an index, an id, the name again, or
 * nothing at all; some use an index or an id for several calls. The rules are those of the AI SDK's tracker, and a differential
 * test compares the two. A call is whole only at the end of the stream: arguments that parse may be the start of longer ones.
 */
import {
  InvalidResponseDataError,
  type LanguageModelV4StreamPart,
  type SharedV4ProviderMetadata,
} from "@ai-sdk/provider";

export interface ToolCallFragment {
  readonly index?: number | null;
  readonly id?: string | null;
  readonly function: { readonly name?: string | null; readonly arguments?: string | null };
  readonly extra_content?:
    | { readonly google?: { readonly thought_signature?: string | null } | null }
    | null
    | undefined;
}

interface Call {
  readonly id: string;
  readonly name: string;
  /** Of its first fragment. */
  readonly index: number | undefined;
  readonly providerMetadata: SharedV4ProviderMetadata | undefined;
  readonly structure: JsonStructure;
  input: string;
}

interface Waiting {
  id: string | null;
  input: string;
  extra: ToolCallFragment["extra_content"];
}

type Found = Call | "new" | "ambiguous";

export class StreamedToolCalls {
  readonly #take: (part: LanguageModelV4StreamPart) => void;
  readonly #metadataOf: (fragment: ToolCallFragment) => SharedV4ProviderMetadata | undefined;
  readonly #calls: Call[] = [];
  readonly #byId = new Map<string, Set<Call>>();
  readonly #byIndex = new Map<number, Set<Call>>();
  readonly #usedIds = new Set<string>();
  /** Fragments of an index whose name has not come yet. */
  readonly #unnamed = new Map<number, Waiting>();
  readonly #namedIndices = new Set<number>();

  constructor(
    take: (part: LanguageModelV4StreamPart) => void,
    metadataOf: (fragment: ToolCallFragment) => SharedV4ProviderMetadata | undefined,
  ) {
    this.#take = take;
    this.#metadataOf = metadataOf;
  }

  /** Throws InvalidResponseDataError for a call without a name. */
  add(fragment: ToolCallFragment): void {
    const { index, id, function: fn, extra_content: extra } = fragment;
    if (index === undefined || index === null || this.#namedIndices.has(index)) return this.#addNamed(fragment);
    const waiting: Waiting = this.#unnamed.get(index) ?? { id: null, input: "", extra: null };
    this.#unnamed.set(index, waiting);
    waiting.id ??= id ?? null;
    waiting.extra ??= extra;
    waiting.input += fn.arguments ?? "";
    if (typeof fn.name !== "string") return;
    this.#unnamed.delete(index);
    this.#namedIndices.add(index);
    this.#addNamed({
      index,
      id: waiting.id,
      function: { name: fn.name, arguments: waiting.input },
      extra_content: waiting.extra,
    });
  }

  /** The stream has ended: tells the whole calls. Throws InvalidResponseDataError for a call without a name. */
  end(): void {
    for (const [index, { id, input }] of this.#unnamed) this.#addNamed({ index, id, function: { arguments: input } });
    this.#unnamed.clear();
    const haveIndices = this.#calls.every(({ index }) => index !== undefined);
    const ordered = haveIndices ? this.#calls.toSorted((a, b) => a.index! - b.index!) : this.#calls;
    for (const { id, name, input, providerMetadata } of ordered) {
      this.#take({ type: "tool-input-end", id });
      this.#take({
        type: "tool-call",
        toolCallId: id,
        toolName: name,
        input,
        ...(providerMetadata && { providerMetadata }),
      });
    }
  }

  #addNamed(fragment: ToolCallFragment): void {
    const { index, function: fn } = fragment;
    const id = unlessBlank(fragment.id);
    const name = unlessBlank(fn.name);
    const input = fn.arguments ?? "";
    const found = this.#find({
      id,
      index: index ?? undefined,
      name,
      startsStructure: name !== undefined && /^\s*[{[]/.test(input),
      isEmpty: input.trim() === "",
    });
    if (found === "ambiguous") return;
    let call: Call;
    if (found === "new") {
      // Some servers repeat a blank name.
      if (typeof fn.name === "string" && name === undefined) return;
      call = this.#begin(fragment, id, name, input);
    } else {
      call = found;
      call.structure.append(input);
      call.input += input;
      if (typeof fn.arguments === "string") this.#take({ type: "tool-input-delta", id: call.id, delta: input });
    }
    if (id !== undefined) addTo(this.#byId, id, call);
    if (index !== undefined && index !== null) addTo(this.#byIndex, index, call);
  }

  #begin(fragment: ToolCallFragment, wireId: string | undefined, name: string | undefined, input: string): Call {
    if (name === undefined) {
      throw new InvalidResponseDataError({ data: undefined, message: "A tool call has no name." });
    }
    const id = wireId !== undefined && !this.#usedIds.has(wireId) ? wireId : `call_${crypto.randomUUID()}`;
    this.#usedIds.add(id);
    const structure = new JsonStructure();
    structure.append(input);
    const call: Call = {
      id,
      name,
      index: fragment.index ?? undefined,
      providerMetadata: this.#metadataOf(fragment),
      structure,
      input,
    };
    this.#calls.push(call);
    this.#take({ type: "tool-input-start", id, toolName: name });
    if (input !== "") this.#take({ type: "tool-input-delta", id, delta: input });
    return call;
  }

  #find({ id, index, name, startsStructure, isEmpty }: Evidence): Found {
    const withIndex = index === undefined ? undefined : this.#byIndex.get(index);
    const indexed = [...(withIndex ?? [])].filter((call) => name === undefined || call.name === name);
    if (id === undefined) {
      if (withIndex) return match(indexed, startsStructure);
      return name === undefined ? match(this.#calls, false) : "new";
    }
    const withId = this.#byId.get(id);
    if (!withId) {
      if (indexed.length === 0 || startsStructure) return "new";
      // A fragment that changes the id of its call looks like the start of a call with empty arguments.
      return match(indexed, name !== undefined && isEmpty);
    }
    const identified = [...withId];
    if (index === undefined) {
      return name === undefined
        ? match(identified, false)
        : match(
            identified.filter((call) => call.name === name),
            startsStructure,
          );
    }
    const found = match(
      indexed.filter((call) => withId.has(call)),
      startsStructure,
    );
    if (found !== "new") return found;
    // Some servers use an id for all calls that go side by side: the name and another index begin a call.
    if (name !== undefined) return "new";
    return withIndex ? "ambiguous" : match(identified, false);
  }
}

interface Evidence {
  readonly id: string | undefined;
  readonly index: number | undefined;
  readonly name: string | undefined;
  /** A name, and arguments that begin an object or an array. */
  readonly startsStructure: boolean;
  readonly isEmpty: boolean;
}

/** Which of these a fragment goes on with. `isStart`: it may be the start of another call. */
function match(calls: readonly Call[], isStart: boolean): Found {
  const [first] = calls;
  if (!first) return "new";
  if (!isStart && calls.length === 1) return first;
  const open = calls.filter(({ structure }) => !structure.isComplete);
  if (open.length === 1) return open[0]!;
  return open.length > 1 || !isStart ? "ambiguous" : "new";
}

/** Whether arguments that come in pieces are a whole object or array: a word or a number could always go on. */
class JsonStructure {
  isComplete = false;
  #kind: "unknown" | "structure" | "other" = "unknown";
  readonly #open: string[] = [];
  #inString = false;
  #isEscaped = false;

  append(text: string): void {
    for (const char of text) {
      if (this.#kind === "other" || this.isComplete) return;
      if (this.#kind === "unknown") {
        if (/\s/.test(char)) continue;
        this.#kind = char === "{" || char === "[" ? "structure" : "other";
        this.#open.push(char);
      } else if (this.#inString) this.#inText(char);
      else this.#between(char);
    }
  }

  #inText(char: string): void {
    if (this.#isEscaped) this.#isEscaped = false;
    else if (char === "\\") this.#isEscaped = true;
    else if (char === '"') this.#inString = false;
  }

  #between(char: string): void {
    if (char === '"') this.#inString = true;
    else if (char === "{" || char === "[") this.#open.push(char);
    else if (char === "}" || char === "]") {
      if (this.#open.at(-1) !== (char === "}" ? "{" : "[")) this.#kind = "other";
      else {
        this.#open.pop();
        this.isComplete = this.#open.length === 0;
      }
    }
  }
}

const unlessBlank = (text: string | null | undefined): string | undefined =>
  typeof text === "string" && text.trim() !== "" ? text : undefined;

function addTo<Key>(sets: Map<Key, Set<Call>>, key: Key, call: Call): void {
  const set = sets.get(key);
  if (set) set.add(call);
  else sets.set(key, new Set([call]));
}
