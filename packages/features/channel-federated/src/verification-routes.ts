/** Verification for the dashboard. */
import type { Route, Verification } from "@svc/contract";
import * as v from "valibot";

const VERIFICATION_PATH = "/api/federated/verification";

const PEER = { peer: v.string() };
const STATE = v.variant("stage", [
  v.object({ stage: v.picklist(["waiting", "scanned", "confirmed", "done"]), ...PEER }),
  v.object({ stage: v.literal("scan"), ...PEER, qr: v.array(v.string()) }),
  v.object({
    stage: v.literal("compare"),
    ...PEER,
    symbols: v.array(v.object({ symbol: v.string(), name: v.string() })),
  }),
  v.object({ stage: v.literal("cancelled"), ...PEER, reason: v.string() }),
]);
const STEP = v.variant("step", [
  v.strictObject({ step: v.picklist(["begin", "state", "compare"]) }),
  v.strictObject({ step: v.literal("answer"), matches: v.boolean() }),
]);
const ERRORS = Object.freeze(["CHANNEL_DOWN", "CHANNEL_CANNOT", "CHANNEL_UNAUTHORIZED", "REMOTE_UNREACHABLE"] as const);

export const verificationRoutes = (verification: Verification): Route[] => [
  {
    method: "GET",
    path: VERIFICATION_PATH,
    access: "operate",
    doc: {
      summary: "Lists who asks to verify the Matrix device of this service.",
      answers: {
        200: {
          description: "User and device of each request that has no answer yet.",
          body: v.object({ requests: v.array(v.string()) }),
        },
      },
      errors: ERRORS,
    },
    handle: async ({ signal }) => ({ status: 200, body: { requests: await verification.requests(signal) } }),
  },
  {
    method: "POST",
    path: VERIFICATION_PATH,
    access: "operate",
    doc: {
      summary: "Takes one step of verifying the Matrix device of this service.",
      body: STEP,
      answers: {
        200: {
          description: "How the verification stands. Ask for `state` until it is `done` or `cancelled`.",
          body: STATE,
        },
      },
      errors: ERRORS,
    },
    async handle({ body, signal }) {
      const asked = body as v.InferOutput<typeof STEP>;
      const state =
        asked.step === "answer"
          ? await verification.answer(asked.matches, signal)
          : await verification[asked.step](signal);
      return { status: 200, body: { ...state } };
    },
  },
];
