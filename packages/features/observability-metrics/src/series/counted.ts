/** Counters and histograms: name, meaning and labels of each series. docs/operations/monitoring.md lists them. */
import { counters, durations, type Family } from "./family.ts";
import { LabelValues } from "./label-values.ts";

/** Upper bounds in seconds. A request may wait for a whole turn. */
const REQUEST = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300];
/** Of models, tools, commands and platforms. */
const STEP = [0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300, 600];
/** Of what may wait for people. */
const LONG = [0.1, 0.5, 1, 5, 10, 30, 60, 300, 900, 3600, 14_400, 86_400];

export type Counted = ReturnType<typeof openCounted>;

export function openCounted() {
  const values = new LabelValues();
  const count = <Label extends string>(name: string, help: string, labels: readonly Label[]): Family<Label> =>
    counters({ name, help, labels }, values);
  const time = <Label extends string>(
    name: string,
    help: string,
    labels: readonly Label[],
    buckets: number[],
  ): Family<Label> => durations({ name, help, labels }, buckets, values);

  return {
    requests: count("svc_http_requests_total", "HTTP requests. Status aborted: the client went away first.", [
      "method",
      "route",
      "status",
    ]),
    requestSeconds: time(
      "svc_http_request_duration_seconds",
      "Seconds from a request's arrival to its answer; of a stream, to its beginning.",
      ["method", "route", "status_class"],
      REQUEST,
    ),

    turns: count("svc_turns_total", "Turns of the agents.", ["agent", "outcome"]),
    turnSeconds: time("svc_turn_duration_seconds", "Seconds a turn takes.", ["agent", "outcome"], STEP),
    turnsUnpriced: count("svc_turns_unpriced_total", "Turns whose cost is unknown: their model has no price.", [
      "model",
    ]),

    modelCalls: count("svc_model_calls_total", "Calls of models.", ["provider", "model", "outcome"]),
    modelCallSeconds: time(
      "svc_model_call_duration_seconds",
      "Seconds a call of a model takes.",
      ["provider", "model", "outcome"],
      STEP,
    ),
    tokens: count("svc_model_tokens_total", "Tokens that models were sent and answered with.", ["model", "direction"]),
    cost: count("svc_model_cost_usd_total", "What calls of models cost, in US dollars, where the price is known.", [
      "model",
    ]),

    toolCalls: count("svc_tool_calls_total", "Calls of tools.", ["tool", "outcome"]),
    toolCallSeconds: time(
      "svc_tool_call_duration_seconds",
      "Seconds a call of a tool takes.",
      ["tool", "outcome"],
      STEP,
    ),
    commands: count("svc_commands_total", "Commands run by the sandbox.", ["backend", "outcome"]),
    commandSeconds: time("svc_command_duration_seconds", "Seconds a command runs.", ["backend", "outcome"], STEP),

    received: count("svc_messages_received_total", "Messages of channels that were kept.", ["channel"]),
    inboxSeconds: time(
      "svc_inbox_wait_seconds",
      "Seconds from keeping a message to the beginning of its turn.",
      ["channel"],
      LONG,
    ),
    unanswered: count("svc_messages_unanswered_total", "Messages that could not be answered, given up.", ["channel"]),
    deliveries: count("svc_deliveries_total", "Messages to channels that were delivered, or given up.", [
      "channel",
      "outcome",
    ]),
    attempts: count("svc_delivery_attempts_total", "Tries to deliver a message.", ["channel", "outcome"]),
    attemptSeconds: time(
      "svc_delivery_attempt_duration_seconds",
      "Seconds a try to deliver a message takes.",
      ["channel", "outcome"],
      STEP,
    ),

    approvalsRequested: count("svc_approvals_requested_total", "Approvals that were asked for.", ["origin"]),
    approvalsResolved: count("svc_approvals_resolved_total", "Approvals that were settled.", ["outcome"]),
    sopStarted: count("svc_sop_runs_started_total", "Runs of procedures that began.", ["sop"]),
    sopEnded: count("svc_sop_runs_ended_total", "Runs of procedures that ended.", ["sop", "status"]),
    sopSeconds: time(
      "svc_sop_run_duration_seconds",
      "Seconds a run of a procedure takes, those that it waits for people included.",
      ["sop", "status"],
      LONG,
    ),

    safetyRequests: count("svc_safety_requests_total", "Movements that a robot was asked for.", ["direction"]),
    safetyRefusals: count("svc_safety_refusals_total", "Movements that were refused.", ["reason"]),
    safetyStops: count("svc_safety_stops_total", "Ends of movements, and stops of a robot that stood.", ["reason"]),
    agentsStarted: count("svc_child_agents_started_total", "Child agents that were started.", ["program"]),
    agentsFailed: count("svc_child_agents_failed_total", "Child agents that failed.", ["program"]),
    safetyResets: count("svc_safety_resets_total", "Resets of the emergency stop by a person.", []),

    errors: count("svc_errors_total", "Work that failed, by its kind and by the code of the error.", ["work", "code"]),
  };
}
