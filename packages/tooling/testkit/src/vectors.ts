/** The conformance cases (vectors/conformance.json): behaviour as data, one group per rule. */
import type { Json } from "@svc/contract";
import { readFileSync } from "node:fs";

export interface VectorCase<Input = Json, Expected = Json> {
  readonly name: string;
  readonly input: Input;
  /** What this product answers: the file's `expected_ours` where there is one, else its `expected`. */
  readonly expected: Expected;
}

export interface VectorGroup {
  readonly id: string;
  /** The rule's place in the specification. */
  readonly specRef: string;
  /** Settings that hold for all cases of the group. */
  readonly config: Readonly<Record<string, Json>>;
  readonly cases: readonly VectorCase[];
}

/** Cases of one group. Throws for a group that doesn't exist or is empty: a test over nothing would pass. */
export function vectorCases<Input = Json, Expected = Json>(groupId: string): VectorCase<Input, Expected>[] {
  const group = vectorGroup(groupId);
  return group.cases as unknown as VectorCase<Input, Expected>[];
}

export function vectorGroup(groupId: string): VectorGroup {
  const group = vectorGroups().find(({ id }) => id === groupId);
  if (group === undefined || group.cases.length === 0) throw new Error(`there is no vector group ${groupId}`);
  return group;
}

export function vectorGroups(): VectorGroup[] {
  const file = new URL("../vectors/conformance.json", import.meta.url);
  const { groups } = JSON.parse(readFileSync(file, "utf8")) as { groups: RawGroup[] };
  return groups.map(({ id, spec_ref, config = {}, cases }) => ({
    id,
    specRef: spec_ref,
    config,
    cases: cases.map(({ name, input, expected, expected_ours }) => ({
      name,
      input,
      expected: expected_ours === undefined ? expected : expected_ours,
    })),
  }));
}

interface RawGroup {
  readonly id: string;
  readonly spec_ref: string;
  readonly config?: Readonly<Record<string, Json>>;
  readonly cases: readonly { name: string; input: Json; expected: Json; expected_ours?: Json }[];
}
