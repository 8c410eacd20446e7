/** The result of a test of the model, for a person: `svc model test` and `svc init` show it. */
import type { ModelReport } from "@svc/api/control";

/** Who answered, how fast, for how much, or what stands in the way. */
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

/** A price that the config does not set is shown as unknown, never as zero. */
function costText({ provider, model, agent, cost_usd: cost, price_known: known }: ModelReport): string {
  if (provider === "builtin") return "nothing: the built-in model is free";
  if (!known) {
    const section = agent === "default" ? "model.price" : `prices.${JSON.stringify(model)}`;
    return `price unknown; set it with: svc config set ${section}.input_per_million <usd>, and output_per_million`;
  }
  return cost === null ? "unknown: the provider did not count the tokens" : `$${cost.toFixed(6)}`;
}
