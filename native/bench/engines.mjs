// The engines against fio and fs.promises, in interleaved rounds: node bench/engines.mjs [directory] [rounds] [seconds]
// Read the ratios, not the numbers; prints medians and each round's ratio to fio.
import { spawnSync } from 'node:child_process';
import { closeSync, constants, existsSync, openSync, promises, statSync } from 'node:fs';
import { join } from 'node:path';
import { native } from '../dist/index.js';

const [directory = '.', rounds = '3', seconds = '2'] = process.argv.slice(2);
const file = join(directory, 'blockyard-bench.img');
const SIZE = 1 << 30;
const only = process.env.BENCH;

function fio(work) {
  const run = spawnSync(
    'fio',
    [
      '--name=b',
      `--filename=${file}`,
      `--size=${SIZE}`,
      '--thread',
      '--ioengine=io_uring',
      '--output-format=json',
      `--rw=${work.fio}`,
      `--bs=${work.bs}`,
      `--iodepth=${work.qd}`,
      `--direct=${work.direct ? 1 : 0}`,
      '--time_based',
      '--invalidate=0',
      `--runtime=${seconds}`,
      '--norandommap',
      '--randrepeat=0',
      ...(work.huge ? ['--iomem=mmap'] : []),
    ],
    { encoding: 'utf8' },
  );
  const job = JSON.parse(run.stdout.slice(run.stdout.indexOf('{'))).jobs[0];
  return { rate: work.write ? job.write.iops : job.read.iops };
}

function ours(work, kind, style) {
  const engine = native.engine(kind, { direct: work.direct });
  const fd = openSync(file, constants.O_RDWR | (work.direct ? constants.O_DIRECT : 0));
  const blocks = SIZE / work.bs;
  let next = 0;
  const place = () => (work.random ? Math.floor(Math.random() * blocks) : next++ % blocks) * work.bs;
  const buffers = Array.from({ length: work.qd }, () =>
    work.plain ? new Uint8Array(work.bs) : native.memory.allocate(work.bs, 4096),
  );
  const cpu = process.cpuUsage();
  const start = performance.now();
  const end = start + Number(seconds) * 1000;
  let count = 0;
  const finish = () => {
    const elapsed = (performance.now() - start) / 1000;
    const used = process.cpuUsage(cpu);
    closeSync(fd);
    if (!work.plain) for (const buffer of buffers) native.memory.release(buffer);
    return engine
      .close()
      .then(() => ({ rate: count / elapsed, user: used.user / count, system: used.system / count }));
  };
  if (style === 'promise') {
    const lane = async (buffer) => {
      for (let i = 0; ; i++) {
        if ((i & 15) === 0 && performance.now() > end) return;
        const n = work.write
          ? await engine.write(fd, place(), buffer)
          : await engine.read(fd, place(), buffer);
        if (n !== work.bs) throw new Error(`short: ${n}`);
        count++;
      }
    };
    return Promise.all(buffers.map(lane)).then(finish);
  }
  return new Promise((resolve) => {
    let lanes = work.qd;
    for (const buffer of buffers) {
      const done = (error, n) => {
        if (error || n !== work.bs) throw error ?? new Error(`short: ${n}`);
        count++;
        if ((count & 15) === 0 && performance.now() > end) stop = true;
        if (stop) {
          if (--lanes === 0) resolve(finish());
          return;
        }
        if (work.write) engine.writeCallback(fd, place(), buffer, done);
        else engine.readCallback(fd, place(), buffer, done);
      };
      if (work.write) engine.writeCallback(fd, place(), buffer, done);
      else engine.readCallback(fd, place(), buffer, done);
    }
    let stop = false;
  });
}

async function nodeFs(work) {
  const handle = await promises.open(file, constants.O_RDWR | (work.direct ? constants.O_DIRECT : 0));
  const blocks = SIZE / work.bs;
  const cpu = process.cpuUsage();
  const start = performance.now();
  const end = start + Number(seconds) * 1000;
  let count = 0,
    next = 0;
  await Promise.all(
    Array.from({ length: work.qd }, async () => {
      const buffer = native.memory.create(work.bs, 4096);
      while (performance.now() < end) {
        const at = (work.random ? Math.floor(Math.random() * blocks) : next++ % blocks) * work.bs;
        await (work.write ? handle.write(buffer, 0, work.bs, at) : handle.read(buffer, 0, work.bs, at));
        count++;
      }
    }),
  );
  const elapsed = (performance.now() - start) / 1000;
  const used = process.cpuUsage(cpu);
  await handle.close();
  return { rate: count / elapsed, user: used.user / count, system: used.system / count };
}

const works = [
  { name: 'direct 4k randread QD1', fio: 'randread', bs: 4096, qd: 1, direct: true, random: true },
  { name: 'direct 4k randread QD32', fio: 'randread', bs: 4096, qd: 32, direct: true, random: true },
  { name: 'direct 4k randread QD128', fio: 'randread', bs: 4096, qd: 128, direct: true, random: true },
  {
    name: 'direct 4k randwrite QD32',
    fio: 'randwrite',
    bs: 4096,
    qd: 32,
    direct: true,
    random: true,
    write: true,
  },
  { name: 'cached 4k randread QD32', fio: 'randread', bs: 4096, qd: 32, random: true },
  {
    name: 'cached 4k randread QD32 plain memory',
    fio: 'randread',
    bs: 4096,
    qd: 32,
    random: true,
    plain: true,
  },
  { name: 'direct 1M read QD8', fio: 'read', bs: 1 << 20, qd: 8, direct: true },
  { name: 'direct 1M write QD8', fio: 'write', bs: 1 << 20, qd: 8, direct: true, write: true },
];
const contestants = {
  fio: fio,
  'uring callback': (work) => ours(work, 'io_uring', 'callback'),
  'uring promise': (work) => ours(work, 'io_uring', 'promise'),
  'aio promise': (work) => (work.direct ? ours(work, 'native', 'promise') : undefined),
  'threads promise': (work) => ours(work, 'threads', 'promise'),
  'fs.promises': nodeFs,
};

if (!existsSync(file) || statSync(file).size !== SIZE || statSync(file).blocks * 512 < SIZE) {
  spawnSync('dd', ['if=/dev/urandom', `of=${file}`, 'bs=1M', `count=${SIZE >> 20}`, 'conv=fsync']);
}
const median = (list) => list.toSorted((a, b) => a - b)[list.length >> 1];
for (const work of works.filter(({ name }) => !only || name.includes(only))) {
  if (!work.direct) spawnSync('dd', [`if=${file}`, 'of=/dev/null', 'bs=1M']);
  const results = {};
  for (let round = 0; round < Number(rounds); round++) {
    for (const [name, run] of Object.entries(contestants)) {
      const result = await run(work);
      if (result) (results[name] ??= []).push(result);
    }
  }
  console.log(work.name);
  for (const [name, list] of Object.entries(results)) {
    const ratios = list.map((result, i) => result.rate / results.fio[i].rate);
    const cpu =
      name === 'fio'
        ? ''
        : `user ${median(list.map((r) => r.user)).toFixed(2)} system ${median(list.map((r) => r.system)).toFixed(2)} us`;
    console.log(
      `  ${name.padEnd(16)} ${median(list.map((r) => r.rate))
        .toFixed(0)
        .padStart(
          8,
        )}/s  ${median(ratios).toFixed(2)} x fio  (${ratios.map((r) => r.toFixed(2)).join(' ')})  ${cpu}`,
    );
  }
}
