//! File systems for fault tests. They are mounted in a namespace of the test's own thread and of the servers that it
//! starts, so that no mount survives the test, however it ends.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A mount that ends when the value is dropped.
pub struct Mount {
    path: PathBuf,
}

/// Gives this thread and its children a mount namespace of their own. The error says what is missing.
pub fn own_mounts() -> Result<(), String> {
    // SAFETY: `unshare` changes only the calling thread's view of the file systems.
    if unsafe { libc::unshare(libc::CLONE_NEWNS) } != 0 {
        return Err(format!("no mounts of its own: {} (needs root)", std::io::Error::last_os_error()));
    }
    run("mount", &["--make-rprivate", "/"])
}

/// Runs a program that must succeed. The error is its standard error.
pub fn run(program: &str, args: &[&str]) -> Result<(), String> {
    let output = Command::new(program).args(args).output().map_err(|e| format!("{program}: {e}"))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&output.stderr);
    Err(format!("{program} {}: {}", args.join(" "), said.trim().replace('\n', "; ")))
}

pub fn shown(path: &Path) -> &str {
    path.to_str().expect("paths of tests are text")
}

impl Mount {
    /// A file system in memory of this size.
    pub fn memory(path: &Path, megabytes: u32) -> Result<Mount, String> {
        Mount::at(path, &["-t", "tmpfs", "-o", &format!("size={megabytes}m,mode=700"), "tmpfs"])
    }

    /// Mounts a file system image.
    pub fn image(image: &Path, path: &Path) -> Result<Mount, String> {
        Mount::at(path, &["-o", "loop", shown(image)])
    }

    fn at(path: &Path, args: &[&str]) -> Result<Mount, String> {
        std::fs::create_dir_all(path).map_err(|e| e.to_string())?;
        run("mount", &[args, &[shown(path)]].concat())?;
        Ok(Mount { path: path.to_owned() })
    }

    /// Mounts the file system again with other options.
    pub fn remount(&self, options: &str) {
        run("mount", &["-o", &format!("remount,{options}"), shown(&self.path)]).unwrap();
    }

    /// Writes a file until the disk is full, and returns its path.
    pub fn fill(&self, name: &str) -> PathBuf {
        let filler = self.path.join(name);
        let mut file = std::fs::File::create(&filler).unwrap();
        for bytes in [1 << 20, 4096, 1] {
            while std::io::Write::write_all(&mut file, &vec![7; bytes]).is_ok() {}
        }
        filler
    }
}

impl Drop for Mount {
    fn drop(&mut self) {
        if run("umount", &[shown(&self.path)]).is_err() {
            _ = run("umount", &["-l", shown(&self.path)]);
        }
    }
}

/// Makes a new file system in a new image file.
pub fn make_image(image: &Path, megabytes: u64, maker: &[&str]) -> Result<(), String> {
    let file = std::fs::File::create(image).map_err(|e| e.to_string())?;
    file.set_len(megabytes << 20).map_err(|e| e.to_string())?;
    run(maker[0], &[&maker[1..], &[shown(image)]].concat())
}
