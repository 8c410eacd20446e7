/** What the operator would write, with the platforms of the harness for the real ones. */
import type { Provider } from "../providers/provider.ts";

export const configOf = (
  providers: readonly Provider[],
  originOf: (provider: Provider) => string,
  modelUrl: string,
): string => `
[model]
provider = "openai-compatible"
name = "obedient"
base_url = "${modelUrl}"

# The acting tool is called without anybody being asked.
[security.policy]
autonomy = "full"

[secrets]
encrypt = false
${providers.map((provider) => provider.section(originOf(provider))).join("")}`;
