/** `svc model test`: exit 0 when the model answers, 69 when its provider does not, 1 for anything else. */
import type { ModelReport } from "@svc/api/control";
import { EXIT } from "@svc/contract";
import type { CommandContext } from "../cli/command.ts";
import { openBackend } from "../service/backend.ts";
import { printable } from "../cli/output.ts";

export async function run(context: CommandContext): Promise<number> {
  const agent = context.options.text("agent");
  await using backend = await openBackend(context);
  const body = agent === undefined ? {} : { agent };
  const report = await backend.call({ name: "model-test", body });
  if (context.options.flag("json")) context.printJson(report);
  else context.print(printable(modelReportText(report)));
  if (report.ok) return EXIT.ok;
  return report.error?.code.startsWith("MODEL_") ? EXIT.unavailable : EXIT.failure;
}

/** For a person: who answered, how fast, for how much, or what stands in the way. */
export function modelReportText(report: ModelReport): string {
  const { provider, model, error } = report;
  if (error) {
    const said = error.said === null ? "" : `\nThe provider says: ${error.said}`;
    return `${model} by ${provider}: ${error.message}${said}${error.hint ? `\n${error.hint}` : ""}  [${error.code}]`;
  }
  return [
    `${model} by ${provider}: answered in ${report.latency_ms} ms`,
    `  tokens    ${report.input_tokens} in, ${report.output_tokens} out`,
    `  cost      ${costText(report)}`,
  ].join("\n");
}

/** A price nobody told us is said to be unknown; it is never shown as nothing. */
function costText({ provider, model, agent, cost_usd: cost, price_known: known }: ModelReport): string {
  if (provider === "builtin") return "nothing: the built-in model is free";
  if (!known) {
    const section = agent === "default" ? "model.price" : `prices.${JSON.stringify(model)}`;
    return `price unknown; set it with: svc config set ${section}.input_per_million <usd>, and output_per_million`;
  }
  return cost === null ? "unknown: the provider did not count the tokens" : `$${cost.toFixed(6)}`;
}
