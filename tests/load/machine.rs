//! Measurements of the machine without the product, flushes of its disk and password hashes; and a description of the
//! machine.

use argon2::{Algorithm, Argon2, Params, Version};
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::time::{Duration, Instant};

const PAGE_BYTES: usize = 4096;
/// The hash parameters of the rule book, repeated here: a product that used less would stand out.
const ARGON2_KIB: u32 = 19 * 1024;
const ARGON2_PASSES: u32 = 2;
/// The niceness of the product's hashing threads, so that other programs on the machine slow both alike.
const PRODUCT_NICENESS: i32 = 10;

/// Pages appended and flushed in a second, one after the other.
pub fn flushes_per_second(dir: &Path, time: Duration) -> Result<f64, String> {
    let measure = || -> std::io::Result<f64> {
        let mut file = File::create(dir.join("flushed"))?;
        let (start, mut flushes) = (Instant::now(), 0);
        while start.elapsed() < time {
            file.write_all(&[flushes as u8; PAGE_BYTES])?;
            file.sync_data()?;
            flushes += 1;
        }
        Ok(f64::from(flushes) / start.elapsed().as_secs_f64())
    };
    measure().map_err(|e| format!("cannot flush the disk under {}: {e}", dir.display()))
}

/// Argon2id hashes in a second on all processors, each thread with its own reused memory.
pub fn hashes_per_second(time: Duration) -> f64 {
    let cores = std::thread::available_parallelism().map_or(2, usize::from);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..cores).map(|_| scope.spawn(move || hash_for(time))).collect();
        threads.into_iter().map(|thread| thread.join().expect("hashing does not panic")).sum()
    })
}

fn hash_for(time: Duration) -> f64 {
    // SAFETY: the call concerns the calling thread alone; a refusal changes nothing.
    unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, PRODUCT_NICENESS) };
    let params = Params::new(ARGON2_KIB, ARGON2_PASSES, 1, None).expect("the parameters are in range");
    let mut memory = vec![argon2::Block::default(); params.block_count()];
    let argon2 = Argon2::new(Algorithm::Argon2id, Version::V0x13, params);
    let (start, mut hashes, mut out) = (Instant::now(), 0, [0; 32]);
    while start.elapsed() < time {
        argon2
            .hash_password_into_with_memory(b"a password", b"some 16 bytes of", &mut out, &mut memory)
            .expect("sound parameters");
        hashes += 1;
    }
    f64::from(hashes) / start.elapsed().as_secs_f64()
}

/// A line that describes the machine.
pub fn describe() -> String {
    let cores = std::thread::available_parallelism().map_or(0, usize::from);
    let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
    let field = |text: &str, name: &str| {
        let line = text.lines().find(|line| line.starts_with(name)).unwrap_or("");
        line.split_once(':').map_or("unknown".to_owned(), |(_, value)| value.trim().to_owned())
    };
    let memory_kib: u64 = field(&read("/proc/meminfo"), "MemTotal").trim_end_matches(" kB").parse().unwrap_or(0);
    let kernel = read("/proc/sys/kernel/osrelease");
    let cpu = field(&read("/proc/cpuinfo"), "model name");
    format!("{cores} cores ({cpu}), {:.0} GB of memory, Linux {}", memory_kib as f64 / 1e6, kernel.trim())
}
