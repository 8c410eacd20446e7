import type { Approval } from "../../api/governed-shapes.ts";
import { Command, Empty } from "../../parts/empty.tsx";
import { Pager } from "../../parts/pager.tsx";
import { Shown } from "../../parts/shown.tsx";
import { hrefOf } from "../../route/route.ts";
import { usePaged } from "../../state/use-paged.ts";
import { ApprovalCard } from "./approval-card.tsx";
import { rich, t } from "../../texts/texts.ts";

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
            <Empty title={t("approvals.no-pending-approvals")}>
              {rich("approvals.in-a-terminal", { command: <Command>svc approvals list</Command> })}
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
                  <a href={hrefOf("approvals")}>{t("approvals.more", { n: approvals.length - most })}</a>
                </p>
              )}
            </>
          )
        }
      </Shown>
      {most === undefined && <Pager older={page.older} newer={page.newer} label={t("approvals.pages-of-waiting")} />}
    </>
  );
}
