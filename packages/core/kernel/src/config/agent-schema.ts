/** What an agent is made of: its model and prices, its turns, its policy; and what `[agents.<name>]` may say of these. */
import { httpUrl, integer, secret } from "@svc/contract";
import * as v from "valibot";
import { count, flag, list, text } from "./schema-pieces.ts";

/** The agent that answers if no other is named. Not a name that `[agents.<name>]` may take. */
export const DEFAULT_AGENT = "default";

const dollars = (description: string) => v.pipe(v.number(), v.finite(), v.minValue(0), v.description(description));

export const price = v.strictObject({
  input_per_million: dollars("US dollars for a million input tokens."),
  output_per_million: dollars("US dollars for a million output tokens."),
});

const maxCostPerDay = v.optional(
  dollars("Most US dollars an agent may spend in a day (UTC). Needs the price of its model."),
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
      v.description("Who answers. builtin needs no key and no network."),
    ),
    "builtin",
  ),
  name: v.optional(text("Model name as the provider spells it.")),
  base_url: v.optional(v.pipe(httpUrl(), v.description("API base URL; required for openai-compatible."))),
  api_key: v.optional(v.pipe(secret(), v.description("API key of the provider."))),
  max_retries: count(3, 0, 10, "Retries of a failed model call, with back-off."),
  max_output_tokens: v.optional(v.pipe(integer(1), v.description("Most tokens in one answer."))),
  choices: v.optional(
    choices("Other models of the same provider that people may choose in a conversation, by /model."),
    [],
  ),
  price: v.optional(price),
});

export const agent = v.strictObject({
  instructions: v.optional(text("What the agent is told before every conversation.")),
  turn_timeout_secs: count(300, 1, 86_400, "Seconds a turn may run; waiting for a person does not count."),
  max_steps: count(20, 1, 1000, "Most model calls in one turn."),
  history_max_tokens: count(
    32_000,
    256,
    10_000_000,
    "Tokens of history sent with a turn; the oldest turns are dropped whole.",
  ),
  max_parallel_turns: count(16, 1, 10_000, "Turns that run at the same time, over all conversations."),
  max_cost_per_day: maxCostPerDay,
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
      v.description("read_only refuses tools that act, supervised asks a person, full runs them."),
    ),
    "supervised",
  ),
  allowed_commands: list(
    "Commands that shell may run without asking; * is every command. To list a program is to trust its options: prefer `git log` to `git`.",
  ),
  workspace_only: flag(true, "File tools stay inside the workspace."),
  forbidden_paths: list("Paths no file tool may touch, absolute or relative to the workspace."),
  max_actions_per_hour: count(0, 0, 1_000_000, "Acting calls allowed in an hour; 0 is no limit."),
  always: v.optional(
    v.pipe(
      v.array(
        v.strictObject({
          agent: v.pipe(v.string(), v.minLength(1), v.description("The agent whose call it is.")),
          tool: v.pipe(v.string(), v.minLength(1), v.description("The tool that it calls.")),
          command: v.optional(text("The command line, of a tool that runs one. It is compared word by word.")),
          folder: v.optional(text("Where the line runs, relative to the workspace. Default: its root.")),
          input: v.optional(text("All other arguments of the call, as JSON.")),
        }),
      ),
      v.maxLength(500),
      v.description(
        "Calls that run without asking, each exactly as a person approved it with `Always allow`. svc approvals rules lists them, svc approvals revoke ends one.",
      ),
    ),
    [],
  ),
});

/** What `[agents.<name>]` may say; whatever it leaves out is as for everybody. See `resolveAgents`. */
export const namedAgent = v.strictObject({
  instructions: v.optional(text("What this agent is told before every conversation.")),
  model: v.optional(
    v.strictObject({
      ...v.partial(model).entries,
      max_retries: v.optional(v.pipe(integer(0, 10), v.description("Retries of a failed model call."))),
      choices: v.optional(choices("Other models of its provider that people may choose in a conversation with it.")),
      provider: v.optional(
        v.pipe(
          v.picklist(["builtin", "openai", "anthropic", "openai-compatible"]),
          v.description("Another provider; nothing of [model] is taken over then, its key least of all."),
        ),
      ),
    }),
  ),
  workspace: v.optional(text("Its own working directory, absolute or below the home.")),
  tools: v.optional(v.pipe(v.array(v.string()), v.description("The tools it has; without this line, all of them."))),
  max_cost_per_day: maxCostPerDay,
  policy: v.optional(
    v.strictObject({
      autonomy: v.optional(
        v.pipe(v.picklist(["read_only", "supervised", "full"]), v.description("As in [security.policy].")),
      ),
      allowed_commands: v.optional(v.pipe(v.array(v.string()), v.description("As in [security.policy]."))),
      workspace_only: v.optional(v.pipe(v.boolean(), v.description("As in [security.policy]."))),
      forbidden_paths: v.optional(v.pipe(v.array(v.string()), v.description("As in [security.policy]."))),
      max_actions_per_hour: v.optional(v.pipe(integer(0, 1_000_000), v.description("As in [security.policy]."))),
    }),
  ),
});

/** A part of session and log lines, of paths and of variables' names. */
export const agentName = v.pipe(
  v.string(),
  v.regex(/^[a-z][a-z0-9_-]{0,63}$/, "agent names are a-z, then a-z 0-9 _ -, at most 64 characters"),
  v.check((name) => name !== DEFAULT_AGENT, "this is the agent that [agent] and [model] make; choose another name"),
);
