/* Holds the commits of SQLite files with a write-ahead log, so that a process can be killed at a known one.

   With LD_PRELOAD. TEST_DISK is a directory: while its file `limit` has a number, commits beyond so many wait before
   their first write, and `held` is there. `commits` has a byte for each commit since the process began. While there is
   a file `full`, there is no space for them. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int commits; /* kproxy has one writer thread */

static int is_log(int fd) {
    char link[64], path[4096];
    snprintf(link, sizeof link, "/proc/self/fd/%d", fd);
    ssize_t size = readlink(link, path, sizeof path);
    return size > 4 && memcmp(path + size - 4, "-wal", 4) == 0;
}

static void path_of(char *path, size_t size, const char *name) {
    snprintf(path, size, "%s/%s", getenv("TEST_DISK"), name);
}

static int beyond_limit(void) {
    char path[4096];
    int limit = -1;
    path_of(path, sizeof path, "limit");
    FILE *file = fopen(path, "r");
    if (file == NULL) return 0;
    if (fscanf(file, "%d", &limit) != 1) limit = 0; /* it is being written */
    fclose(file);
    return commits >= limit;
}

ssize_t pwrite64(int fd, const void *data, size_t size, off64_t offset) {
    ssize_t (*real)(int, const void *, size_t, off64_t) = dlsym(RTLD_NEXT, "pwrite64");
    char full[4096], held[4096];
    path_of(full, sizeof full, "full");
    if (is_log(fd) && access(full, F_OK) == 0) {
        errno = ENOSPC;
        return -1;
    }
    if (is_log(fd) && beyond_limit()) {
        path_of(held, sizeof held, "held");
        close(open(held, O_CREAT | O_WRONLY, 0600));
        while (beyond_limit()) usleep(1000);
        unlink(held);
    }
    return real(fd, data, size, offset);
}

int fdatasync(int fd) {
    int (*real)(int) = dlsym(RTLD_NEXT, "fdatasync");
    int result = real(fd);
    if (is_log(fd)) {
        char path[4096];
        path_of(path, sizeof path, "commits");
        int file = open(path, O_CREAT | O_WRONLY | O_APPEND, 0600);
        commits++;
        if (write(file, ".", 1) != 1) abort();
        close(file);
    }
    return result;
}
