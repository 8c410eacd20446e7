import { useId, useState } from "preact/hooks";
import { ApiError } from "../../api/api-error.ts";
import { path } from "../../api/client.ts";
import type { Approval } from "../../api/governed-shapes.ts";
import { Button } from "../../parts/button.tsx";
import { Problem } from "../../parts/problem.tsx";
import { useServices } from "../../services.ts";
import { useAction } from "../../state/use-action.ts";
import { relative } from "../../text/time.ts";

export function AnswerForm({ approval }: { readonly approval: Approval }) {
  const { api, live, announcer } = useServices();
  const [feedback, setFeedback] = useState("");
  const id = useId();
  const { n, title, run_id: run, step_id: step } = approval;
  const {
    run: answer,
    isRunning,
    error,
  } = useAction(async (approved: boolean) => {
    const body = { approved, ...(feedback.trim() !== "" && { feedback }) };
    try {
      await api.call(path`/api/approvals/${run}/${step}`, { method: "POST", body });
      announcer.say(`${approved ? "Approved" : "Rejected"}: ${title}`);
    } catch (error) {
      if (!(error instanceof ApiError) || error.code !== "APPROVAL_RESOLVED") throw error;
      // Nothing went wrong. The card will show the answer in a moment; this says whose buttons were too late.
      announcer.say(tooLate(error));
    } finally {
      live.markStale(["approvals", "procedures"]);
    }
  });
  return (
    <div class="answer-form">
      <label for={id}>Feedback, if any</label>
      <input
        id={id}
        value={feedback}
        maxLength={4096}
        onInput={({ currentTarget }) => setFeedback(currentTarget.value)}
      />
      <div class="buttons">
        <Button kind="main" label={`Approve #${n}: ${title}`} busy={isRunning} onPress={() => void answer(true)}>
          Approve
        </Button>
        <Button kind="danger" label={`Reject #${n}: ${title}`} busy={isRunning} onPress={() => void answer(false)}>
          Reject
        </Button>
      </div>
      <Problem error={error} />
    </div>
  );
}

function tooLate({ fields: { by, at }, message }: ApiError): string {
  if (typeof by !== "string" || typeof at !== "string") return message;
  return `${by} was first, ${relative(Date.parse(at), Date.now())}. Your answer changed nothing.`;
}
