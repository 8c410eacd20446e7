/** The schedule of cron triggers, loaded with the first of them: what knows of times is no small thing, and most services have none. */
import type { CronSchedule, CronScheduleOptions, FireCron } from "./cron-schedule.ts";

export function lateCronSchedule(options: CronScheduleOptions): CronSchedule {
  const { library, marks, log } = options;
  let schedule: CronSchedule | undefined;
  let isLoading = false;
  /** While it runs. */
  let fire: FireCron | undefined;
  const load = async (): Promise<void> => {
    const { createCronSchedule } = await import("./cron-schedule.ts");
    schedule = createCronSchedule(options);
    if (fire) schedule.start(fire);
  };
  // The mark of a trigger that is gone has to be forgotten: if it came back, it would fire for the time it was away.
  const isWanted = (): boolean => library.crons().length > 0 || marks.keys().length > 0;
  const look = (): void => {
    if (schedule || isLoading || !fire || !isWanted()) return;
    isLoading = true;
    load()
      .catch((error: unknown) => log.error("the schedule of procedures could not be loaded", { cause: String(error) }))
      .finally(() => (isLoading = false));
  };
  library.onChange(look);
  return {
    start(next) {
      fire = next;
      if (schedule) schedule.start(next);
      else look();
    },
    stop() {
      fire = undefined;
      schedule?.stop();
    },
    nextAtMs: (trigger) => schedule?.nextAtMs(trigger),
  };
}
