/** Calls that run without asking, because a person said always to them. */
import { SvcError } from "@svc/contract";
import * as v from "valibot";
import { jsonReply } from "../http/reply.ts";
import type { PolicyRules } from "../types.ts";
import type { ApiRoute } from "./app.ts";
import { name } from "./fields.ts";

const RULE = v.object({
  id: name("For DELETE /api/policy-rules/{id}."),
  agent: v.string(),
  tool: v.string(),
  pattern: v.pipe(v.string(), v.description("All that has to be equal in a call.")),
});

const LIST: Omit<ApiRoute, "handle"> = {
  method: "GET",
  path: "/api/policy-rules",
  access: "operate",
  summary: "Lists the calls that run without asking, because a person said always to them.",
  details: "They are security.policy.always of the config in force.",
  answers: { 200: { description: "The rules.", body: v.object({ rules: v.array(RULE) }) } },
};

const REVOKE: Omit<ApiRoute, "handle"> = {
  method: "DELETE",
  path: "/api/policy-rules/{id}",
  access: "operate",
  summary: "Revokes a rule: from now on such calls ask again.",
  params: { id: name("The rule's id.") },
  answers: {
    200: { description: "It is out of force.", body: v.object({ id: v.string(), revoked: v.literal(true) }) },
  },
  errors: ["RULE_UNKNOWN", "CONFIG_INVALID", "CONFIG_CHANGED", "CONFIG_UNWRITABLE", "STORE_FULL", "STORE_FAILED"],
};

export const POLICY_RULE_SPECS = [LIST, REVOKE];

export const policyRuleRoutes = (rules: PolicyRules): ApiRoute[] => [
  {
    ...LIST,
    handle: () =>
      jsonReply(200, { rules: rules.list().map(({ id, agent, tool, pattern }) => ({ id, agent, tool, pattern })) }),
  },
  {
    ...REVOKE,
    async handle({ device, params }) {
      const id = params["id"] ?? "";
      if (!(await rules.revoke(id, device.name))) throw new SvcError("RULE_UNKNOWN");
      return jsonReply(200, { id, revoked: true });
    },
  },
];
