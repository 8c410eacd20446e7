/** A pending approval of a tool call also shows inside its turn. */
import type { Approval } from "../../api/governed-shapes.ts";
import { useMayOperate } from "../../session/use-device.ts";
import { useList } from "../../state/use-reader.ts";
import { ApprovalCard } from "../approvals/approval-card.tsx";

/** `ids`: of the turns that run. */
export function TurnApprovals({ ids }: { readonly ids: readonly string[] }) {
  const mayOperate = useMayOperate();
  return mayOperate && ids.length > 0 ? <OfTurns ids={ids} /> : null;
}

function OfTurns({ ids }: { readonly ids: readonly string[] }) {
  const query = { status: "waiting", limit: 50 };
  const { data } = useList<{ readonly approvals: readonly Approval[] }>("/api/approvals", ["approvals"], query);
  const asked = data?.approvals.filter(({ run_id: id }) => ids.includes(id)) ?? [];
  return (
    <>
      {asked.map((approval) => (
        <ApprovalCard key={approval.n} approval={approval} />
      ))}
    </>
  );
}
