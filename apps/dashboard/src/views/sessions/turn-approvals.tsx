/** A tool call that waits for a yes is asked about where it happens, too. */
import type { Approval } from "../../api/governed-shapes.ts";
import { useMayOperate } from "../../session/use-device.ts";
import { useList } from "../../state/use-reader.ts";
import { ApprovalCard } from "../approvals/approval-card.tsx";
import type { LiveTurn } from "./live-turns.ts";

export function TurnApprovals({ turns }: { readonly turns: readonly LiveTurn[] }) {
  const mayOperate = useMayOperate();
  return mayOperate && turns.length > 0 ? <OfTurns ids={turns.map(({ id }) => id)} /> : null;
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
