/** What an agent is made of: its model and prices, its turns, its policy; and what `[agents.<name>]` may say of these. */
import { httpUrl, integer, secret } from "@svc/contract";
import * as v from "valibot";

/** Values as core's sections write them: with a description, and a default where there is one. */
export const text = (description: string) => v.pipe(v.string(), v.description(description));
export const flag = (value: boolean, description: string) =>
  v.optional(v.pipe(v.boolean(), v.description(description)), value);
export const count = (value: number, min: number, max: number, description: string) =>
  v.optional(v.pipe(integer(min, max), v.description(description)), value);
export const list = (description: string) => v.optional(v.pipe(v.array(v.string()), v.description(description)), []);

/** The agent that answers if no other is named. Not a name that `[agents.<name>]` may take. */
export const DEFAULT_AGENT = "default";

const dollars = (description: string) => v.pipe(v.number(), v.finite(), v.minValue(0), v.description(description));

export const price = v.strictObject({
  input_per_million: dollars("US dollars for a million input tokens."),
  output_per_million: dollars("US dollars for a million output tokens."),
});

const maxCostPerDay = v.optional(
  dollars("US dollars that an agent may spend per day (UTC). Requires the price of its model."),
);

const clientMaxCostPerDay = v.optional(
  dollars(
    "US dollars that an agent may spend per day (UTC) for one client: a device, a person of a channel, the terminal, the procedures, or all callers without a token. Default: max_cost_per_day.",
  ),
);

/** `/model default` is how people go back. */
const choices = (description: string) =>
  v.pipe(
    v.array(
      v.pipe(
        v.string(),
        v.trim(),
        v.nonEmpty("a model's name, not blank"),
        v.check((name) => name.toLowerCase() !== "default", "this word goes back to the standing model; name another"),
      ),
    ),
    v.description(description),
  );

export const model = v.strictObject({
  provider: v.optional(
    v.pipe(
      v.picklist(["builtin", "openai", "anthropic", "openai-compatible"]),
      v.description("Model provider. builtin needs no key and no network."),
    ),
    "builtin",
  ),
  name: v.optional(text("Model name as the provider spells it.")),
  base_url: v.optional(v.pipe(httpUrl(), v.description("API base URL; required for openai-compatible."))),
  api_key: v.optional(v.pipe(secret(), v.description("API key of the provider."))),
  max_retries: count(3, 0, 10, "Retries of a failed model call, with back-off."),
  max_output_tokens: v.optional(v.pipe(integer(1), v.description("Maximum tokens of one answer."))),
  choices: v.optional(
    choices("Other models of the same provider that people may choose in a conversation, by /model."),
    [],
  ),
  price: v.optional(price),
});

export const agent = v.strictObject({
  instructions: v.optional(text("System prompt of the agent.")),
  turn_timeout_secs: count(300, 1, 86_400, "Seconds a turn may run; waiting for an approval does not count."),
  max_steps: count(20, 1, 1000, "Most model calls in one turn."),
  history_max_tokens: count(
    32_000,
    256,
    10_000_000,
    "Tokens of history sent with a turn; the oldest turns are dropped whole.",
  ),
  max_parallel_turns: count(16, 1, 10_000, "Turns at the same time, over all conversations."),
  max_cost_per_day: maxCostPerDay,
  client_max_cost_per_day: clientMaxCostPerDay,
  per_client: flag(true, "The cost per day also counts per client; false: only the agent's total counts."),
  title_model: v.optional(
    text(
      "Titles new conversations while no turn runs: model.name or one of model.choices. Default: their first words.",
    ),
  ),
});

export const policy = v.strictObject({
  autonomy: v.optional(
    v.pipe(
      v.picklist(["read_only", "supervised", "full"]),
      v.description("read_only refuses acting tools, supervised asks for approval, full runs them."),
    ),
    "supervised",
  ),
  allowed_commands: list(
    "Commands that shell may run without an approval; * is every command. Listing a program trusts all its options: prefer `git log` to `git`.",
  ),
  workspace_only: flag(true, "File tools stay inside the workspace."),
  forbidden_paths: list("Paths that file tools must not touch, absolute or relative to the workspace."),
  max_actions_per_hour: count(0, 0, 1_000_000, "Acting tool calls allowed per hour; 0: no limit."),
  client_max_actions_per_hour: v.optional(
    v.pipe(
      integer(0, 1_000_000),
      v.description(
        "Acting tool calls allowed per hour for one client; 0: no limit of its own. Default: max_actions_per_hour.",
      ),
    ),
  ),
  per_client: flag(true, "The actions also count per client; false: only the agent's total counts."),
  always: v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          agent: v.pipe(v.string(), v.minLength(1), v.description("Agent that makes the call.")),
          tool: v.pipe(v.string(), v.minLength(1), v.description("Name of the tool.")),
          command: v.optional(text("Command line, for tools that run one. It is compared word by word.")),
          folder: v.optional(text("Working directory of the command, relative to the workspace. Default: its root.")),
          input: v.optional(text("All other arguments of the call, as JSON.")),
        }),
      ),
      v.maxLength(500),
      v.description(
        "Tool calls that run without an approval, exactly as a person approved them with `Always allow`. svc approvals rules lists them, svc approvals revoke removes one.",
      ),
    ),
    [],
  ),
});

/** What `[agents.<name>]` may say; whatever it leaves out is as for everybody. See `resolveAgents`. */
export const namedAgent = v.strictObject({
  instructions: v.optional(text("System prompt of this agent.")),
  model: v.optional(
    v.strictObject({
      ...v.partial(model).entries,
      max_retries: v.optional(v.pipe(integer(0, 10), v.description("Retries of a failed model call."))),
      choices: v.optional(
        choices("Other models of this provider that people may choose in a conversation with the agent."),
      ),
      provider: v.optional(
        v.pipe(
          v.picklist(["builtin", "openai", "anthropic", "openai-compatible"]),
          v.description("Another provider. It inherits nothing from [model], least of all the key."),
        ),
      ),
    }),
  ),
  workspace: v.optional(text("Working directory of this agent, absolute or below the home.")),
  tools: v.optional(v.pipe(v.array(v.string()), v.description("Tools of the agent. Default: all."))),
  max_cost_per_day: maxCostPerDay,
  client_max_cost_per_day: clientMaxCostPerDay,
  per_client: v.optional(v.pipe(v.boolean(), v.description("As in [agent]."))),
  policy: v.optional(
    v.strictObject({
      autonomy: v.optional(
        v.pipe(v.picklist(["read_only", "supervised", "full"]), v.description("As in [security.policy].")),
      ),
      allowed_commands: v.optional(v.pipe(v.array(v.string()), v.description("As in [security.policy]."))),
      workspace_only: v.optional(v.pipe(v.boolean(), v.description("As in [security.policy]."))),
      forbidden_paths: v.optional(v.pipe(v.array(v.string()), v.description("As in [security.policy]."))),
      max_actions_per_hour: v.optional(v.pipe(integer(0, 1_000_000), v.description("As in [security.policy]."))),
      client_max_actions_per_hour: v.optional(v.pipe(integer(0, 1_000_000), v.description("As in [security.policy]."))),
      per_client: v.optional(v.pipe(v.boolean(), v.description("As in [security.policy]."))),
    }),
  ),
});

/** A part of session and log lines, of paths and of variables' names. */
export const agentName = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9_-]{0,63}$/, "agent names are a-z, then a-z 0-9 _ -, at most 64 characters"),
  v.check((name) => name !== DEFAULT_AGENT, "this is the agent that [agent] and [model] make; choose another name"),
);
