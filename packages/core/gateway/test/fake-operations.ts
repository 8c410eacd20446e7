/** What an operator watches, always the same, and what can go wrong with it. */
import { type ErrorCode, SvcError } from "@svc/contract";
import type { LogSearch, Operations } from "../src/routes/operations.ts";

const AT = "2026-01-01T00:00:00.000Z";

export class FakeOperations implements Operations {
  /** As long as it is set, everything is refused by it. */
  fails: ErrorCode | undefined;
  readonly asked: unknown[] = [];

  async setup() {
    await this.#may();
    const backup = { file: "backups/svc-backup.tar.gz", at: AT, bytes: 1 };
    return { model: true, channel: false, tool: false, sandbox: true, service: "absent" as const, backup };
  }

  usage(days: number) {
    this.asked.push(days);
    const tokens = { input_tokens: 1, output_tokens: 2, cost_usd: 0.5, unknown_cost_turns: 0 };
    const usage = [{ day: "2026-01-01", agent: "default", model: "m", channel: "", turns: 1, ...tokens }];
    const client = { agent: "default", kind: "terminal" as const, device: null, channel: "" };
    return {
      since: "2025-12-03",
      today: "2026-01-01",
      usage,
      clients: [{ ...client, cost_usd: 0.5, limit_usd: null }],
    };
  }

  async logs(query: LogSearch) {
    await this.#may();
    this.asked.push(query);
    const fields = [{ name: "channel", value: "pager" }];
    const lines = [
      { time: AT, level: "warn" as const, message: "lost", fields },
      { time: null, level: null, message: "half a li", fields: [] },
    ];
    return { lines, cursor: "1:2:3", cut: false };
  }

  async doctor(security: boolean) {
    await this.#may();
    this.asked.push(security);
    return {
      ok: true,
      findings: [
        { id: "disk", group: "health", level: "ok" as const, message: "There is room.", fix: null },
        { id: "config", group: "health", level: "warning" as const, message: "x", fix: "svc config check" },
      ],
    };
  }

  async backup(by: string) {
    await this.#may();
    this.asked.push(by);
    return { file: "backups/svc-backup.tar.gz", at: AT, bytes: 1 };
  }

  async #may(): Promise<void> {
    await Promise.resolve();
    if (this.fails) throw new SvcError(this.fails);
  }
}
