import type { Approval } from "../../api/governed-shapes.ts";
import { Command, Empty } from "../../parts/empty.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Shown } from "../../parts/shown.tsx";
import { hrefOf } from "../../route/route.ts";
import { usePaged } from "../../state/use-paged.ts";
import { ApprovalCard } from "./approval-card.tsx";

interface Page {
  readonly approvals: readonly Approval[];
  readonly before: number | null;
}

/** @param most Only the newest of them. */
export function WaitingApprovals({ most }: { readonly most?: number }) {
  const page = usePaged<Page>("/api/approvals", ["approvals"], { status: "waiting", limit: 50 });
  return (
    <>
      <Shown read={page}>
        {({ approvals }) =>
          approvals.length === 0 ? (
            <Empty title="No pending approvals">
              In a terminal: <Command>svc approvals list</Command>
            </Empty>
          ) : (
            <>
              <ul class="cards">
                {approvals.slice(0, most).map((approval) => (
                  <li key={approval.n}>
                    <ApprovalCard approval={approval} />
                  </li>
                ))}
              </ul>
              {most !== undefined && approvals.length > most && (
                <p>
                  <a href={hrefOf("approvals")}>{approvals.length - most} more</a>
                </p>
              )}
            </>
          )
        }
      </Shown>
      {most === undefined && <Pager older={page.older} newer={page.newer} what="waiting approvals" />}
    </>
  );
}
