/** Settings that are always the same, and what can go wrong with them. */
import { type ErrorCode, SvcError } from "@svc/contract";
import type { SettingsAdmin } from "../src/index.ts";

export const REVISION = "0123456789abcdef0123456789abcdef";

const PROBLEM = {
  code: "CONFIG_INVALID",
  key: "gateway.port",
  message: "must be a whole number",
  line: 3,
  column: 1,
  allowed: null,
  did_you_mean: null,
  env: null,
};

const SAVED = { version: 3, revision: REVISION, changed: ["gateway"], restart: ["gateway.port"], warnings: [] };
const DIFF = [{ kind: "added" as const, line: 3, text: "port = 1" }];

export class FakeSettings implements SettingsAdmin {
  /** As long as it is set, everything is refused by it. */
  fails: ErrorCode | undefined;
  readonly saved: Parameters<SettingsAdmin["save"]>[] = [];

  #check(): void {
    if (this.fails) throw new SvcError(this.fails);
  }

  async read() {
    await Promise.resolve();
    this.#check();
    return {
      file: "config.toml",
      revision: REVISION,
      unwritable: null,
      sections: [],
      values: { gateway: { port: 1 } },
      secrets: ["model.api_key"],
      environment: {},
      problems: [PROBLEM],
      absent: [],
      aliases: { pager: "channels_config.pager" },
    };
  }

  async preview() {
    await Promise.resolve();
    this.#check();
    return { revision: REVISION, diff: DIFF, problems: [PROBLEM], warnings: [] };
  }

  async save(...asked: Parameters<SettingsAdmin["save"]>) {
    await Promise.resolve();
    this.#check();
    this.saved.push(asked);
    return SAVED;
  }

  async versions() {
    await Promise.resolve();
    return [{ version: 3, at: "2026-01-01T00:00:00.000Z", by: "editor", keys: ["gateway.port"] }];
  }

  async changeOf(version: number) {
    await Promise.resolve();
    if (version !== 3) throw new SvcError("VERSION_UNKNOWN");
    return DIFF;
  }

  async models() {
    await Promise.resolve();
    this.#check();
    return { models: ["gpt-x"], error: null };
  }

  async testModel() {
    await Promise.resolve();
    this.#check();
    return { ok: true, provider: "openai", model: "gpt-x", latency_ms: 1, error: null };
  }

  async testChannel() {
    await Promise.resolve();
    this.#check();
    return { state: "sent", error: null, hint: null };
  }
}
