/** `security.policy.always`: calls that a person has said always to. Written into the config, audited, revocable. */
import { type AlwaysRule, ruleIdOf, ruleTextOf } from "@svc/agent";
import { SvcError } from "@svc/contract";
import type { PolicyRule } from "@svc/api";
import type { PolicyRules } from "@svc/gateway";
import { type LoadedConfig, addConfigItem, removeConfigItems } from "@svc/config";
import type { AuditLog } from "@svc/sop";
import type { Approval, Store } from "@svc/store";
import * as v from "valibot";

const LIST = ["security", "policy", "always"];

export interface AlwaysRulesDeps {
  readonly store: Pick<Store, "write">;
  readonly audit: () => Pick<AuditLog, "add">;
  /** In force now. */
  readonly config: () => Pick<LoadedConfig, "core">;
  /** Changes the file. Throws CONFIG_*. */
  readonly edit: (change: (text: string) => Promise<string>) => Promise<unknown>;
  /** Puts the changed file into force. */
  readonly reload: () => Promise<unknown>;
}

export class AlwaysRules implements PolicyRules {
  readonly #parts: AlwaysRulesDeps;

  constructor(parts: AlwaysRulesDeps) {
    this.#parts = parts;
  }

  list(): readonly PolicyRule[] {
    return this.#rules().map((rule) => ({
      id: ruleIdOf(rule),
      agent: rule.agent,
      tool: rule.tool,
      pattern: ruleTextOf(rule),
    }));
  }

  /** Resolves once it is in force. Throws RULE_NOT_SAVED. */
  async keep(given: unknown, { n, answer }: Pick<Approval, "n" | "answer">): Promise<void> {
    const { edit, reload } = this.#parts;
    try {
      const rule: AlwaysRule = v.parse(RULE, given);
      const id = ruleIdOf(rule);
      // Nothing is in force that the audit log does not tell of.
      await this.#note("policy-rule-add", rule, answer?.by ?? "", n);
      await edit((text) => addConfigItem(text, LIST, withoutAbsent(rule), (item) => idOf(item) === id));
      await reload();
    } catch (error) {
      const why = error instanceof SvcError ? ` ${error.message}` : "";
      const hint = (error instanceof SvcError ? error.hint : undefined) ?? "See: svc logs";
      throw new SvcError("RULE_NOT_SAVED", `The call is allowed once, but the rule for always was not saved.${why}`, {
        hint,
        cause: error,
      });
    }
  }

  async revoke(id: string, by: string): Promise<boolean> {
    const { edit, reload } = this.#parts;
    const rule = this.#rules().find((each) => ruleIdOf(each) === id);
    if (!rule) return false;
    await edit((text) => removeConfigItems(text, LIST, (item) => idOf(item) === id));
    await reload();
    await this.#note("policy-rule-remove", rule, by);
    return true;
  }

  #rules(): readonly AlwaysRule[] {
    return this.#parts.config().core["security.policy"].always;
  }

  async #note(kind: string, rule: AlwaysRule, by: string, approval?: number): Promise<void> {
    const { store, audit } = this.#parts;
    const { agent, tool } = rule;
    const data = { id: ruleIdOf(rule), agent, tool, pattern: ruleTextOf(rule), by };
    await store.write(() => audit().add(kind, { ...data, ...(approval !== undefined && { approval }) }));
  }
}

const RULE = v.strictObject({
  agent: v.string(),
  tool: v.string(),
  command: v.optional(v.string()),
  folder: v.optional(v.string()),
  input: v.optional(v.string()),
});

function idOf(item: unknown): string | undefined {
  const rule = v.safeParse(RULE, { ...(item as object) });
  return rule.success ? ruleIdOf(rule.output) : undefined;
}

const withoutAbsent = (rule: AlwaysRule): Record<string, string> =>
  Object.fromEntries(Object.entries(rule).filter((pair): pair is [string, string] => pair[1] !== undefined));
