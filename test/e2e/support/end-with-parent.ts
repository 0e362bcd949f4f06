// A worker of Vitest goes on when the process that started it is killed. Its suite would then run on, unseen, into the next run.
process.once('disconnect', () => process.exit(1));
