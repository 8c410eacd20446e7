/** Words that a person says to the service instead of to the model: for completion where they are typed. */
import { COMMAND_HELP } from "@svc/agent";
import * as v from "valibot";
import { jsonReply } from "../http/reply.ts";
import type { ApiRoute } from "./app.ts";
import { name } from "./fields.ts";

const LIST: Omit<ApiRoute, "handle"> = {
  method: "GET",
  path: "/api/commands",
  access: "read",
  summary: "Lists the commands that can be typed in a conversation.",
  answers: {
    200: {
      description: "The commands.",
      body: v.object({
        commands: v.array(
          v.object({ usage: name("As it is typed; what stands in <> is to be filled in."), summary: v.string() }),
        ),
      }),
    },
  },
};

export const COMMAND_SPECS = [LIST];

export const commandRoutes = (): ApiRoute[] => [
  {
    ...LIST,
    handle: () => jsonReply(200, { commands: COMMAND_HELP.map(({ usage, summary }) => ({ usage, summary })) }),
  },
];
